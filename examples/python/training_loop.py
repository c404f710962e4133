"""Joules beside the loss, for a training loop of your own."""

import wattle


class Run:
    """In place of `wandb.init()`, or of the module mlflow or trackio."""

    def log(self, values, step=None):
        print("step", step, {name: values[name] for name in sorted(values)})


def train(epoch):
    return 1.0 / (1 + sum(range(200_000 * (epoch + 1))))


run = Run()
log = wattle.log_to(run)
for epoch in range(3):
    with wattle.measure("epoch") as m:
        loss = train(epoch)
    log({"loss": loss, **wattle.metrics(m)}, step=epoch)
