// Nothing but the headers that the tests share: see CMakeLists.txt.
int main() {}
