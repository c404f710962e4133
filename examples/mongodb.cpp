// Saves traces in a MongoDB database.
//
//   mongodb URI
#include <iostream>
#include <wattle/energy_meter.hpp>
#include <wattle/error.hpp>
#include <wattle/mongodb.hpp>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: mongodb URI\n";
    return 64;
  }
  try {
    wattle::MongoHandler runs({.uri = argv[1],
                               .database = "lab",
                               .collection = "runs",
                               .connect_timeout = std::chrono::seconds(1)});
    { const wattle::EnergyScope scope(runs); }
    runs.save_data();
    std::cout << "saved\n";
  } catch (const wattle::DatabaseError& error) {
    const bool may_come_back = error.cause() == wattle::DatabaseError::Cause::unreachable;
    std::cerr << error.what() << '\n';
    return may_come_back ? 2 : 1;
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
