// Student's distribution: how far a mean of few values can be off.
#pragma once

namespace wattle {

/// The value that Student's t with `degrees` of freedom (above 0, not only whole numbers) stays
/// below with this probability, from 0.5 to below 1.
[[nodiscard]] double student_quantile(double probability, double degrees);

/// The critical value of a 95 % interval, in standard errors.
[[nodiscard]] double student_critical(double degrees);

}  // namespace wattle
