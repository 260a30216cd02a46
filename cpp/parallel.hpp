// Work shared out over threads, in a way that nothing can fall out of.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace kedge {

// Calls work(i) for every i < count on up to `threads` threads, this one among them. What a worker
// throws is thrown here, after all have ended; a thread that cannot start is done without.
template <typename Work>
void parallel_for(std::size_t count, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failing;
  const auto share = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(failing);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> pool;
    try {
      for (std::size_t t = 1; t < threads && t < count; ++t) pool.emplace_back(share);
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    share();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kedge
