#pragma once
#include <vector>

namespace shelf {

// A jar.
class Jar {
public:
  explicit Jar(int label);
  ~Jar();
  bool open() const { return true; }
  int label_;
};

template <typename T>
T close(const T &jar) {
  return jar;
}

using Row = std::vector<Jar>;

enum class Lid { Tin };

} // namespace shelf

shelf::Jar::Jar(int label) : label_(label) {
}

bool operator==(const shelf::Jar &a, const shelf::Jar &b);
