// Divides work among threads; exceptions reach the caller.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace kedge {

// Persistent threads, since starting one takes tens of microseconds. They start with the first
// work; a thread that cannot start is left out.
class Workers {
 public:
  // Polls of a waiting thread before it sleeps: waking takes as long as a small piece of work.
  explicit Workers(std::size_t threads, int patience = 0)
      : threads_(threads), patience_(patience) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    ending_ = true;
    ++round_;
    round_.notify_all();
  }

  // Number of threads that share the work, including the caller's.
  std::size_t ready() {
    start();
    return threads_;
  }

  // Calls work(i) for every i < count, also on this thread. Rethrows an exception of `work` after
  // all calls have ended. Must not be called from two threads at once.
  template <typename Work>
  void run(std::size_t count, const Work& work) {
    next_ = 0;
    count_ = count;
    work_ = &work;
    call_ = [](const void* context, std::size_t i) { (*static_cast<const Work*>(context))(i); };
    if (count > 1) {
      start();
      busy_ = pool_.size();
      ++round_;
      round_.notify_all();
    }
    share();
    for (int i = 0; i < patience_ && busy_ > 0; ++i) std::this_thread::yield();
    for (std::size_t busy = busy_; busy > 0; busy = busy_) busy_.wait(busy);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void start() {
    try {
      while (pool_.size() + 1 < threads_) pool_.emplace_back([this, r = round_.load()] { serve(r); });
    } catch (const std::system_error&) {
      threads_ = pool_.size() + 1;
    } catch (const std::bad_alloc&) {
      threads_ = pool_.size() + 1;
    }
  }
  void serve(std::uint32_t round) {
    for (;;) {
      for (int i = 0; i < patience_ && round_ == round; ++i) std::this_thread::yield();
      round_.wait(round);
      ++round;
      if (ending_) return;
      share();
      if (--busy_ == 0) busy_.notify_all();
    }
  }
  void share() {
    try {
      for (std::size_t i = next_++; i < count_; i = next_++) call_(work_, i);
    } catch (...) {
      const std::lock_guard lock(failing_);
      if (!failure_) failure_ = std::current_exception();
      next_ = count_;
    }
  }

  std::size_t threads_;
  int patience_;
  std::size_t count_ = 0;
  const void* work_ = nullptr;
  void (*call_)(const void*, std::size_t) = nullptr;
  std::atomic<std::size_t> next_{0}, busy_{0};
  std::atomic<std::uint32_t> round_{0};
  std::atomic<bool> ending_{false};
  std::exception_ptr failure_;
  std::mutex failing_;
  std::vector<std::jthread> pool_;  // last, so that its threads end before what they use
};

// A barrier at which threads wait for each other by spinning, for short waits.
class Barrier {
 public:
  explicit Barrier(std::size_t size) : size_(size) {}
  void wait() {
    const std::uint32_t round = round_;
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++round_;
      return;
    }
    for (int spins = 0; round_ == round; ++spins) {
      if (spins > kSpins) std::this_thread::yield();
    }
  }

 private:
  static constexpr int kSpins = 2000;
  std::size_t size_;
  std::atomic<std::size_t> arrived_{0};
  std::atomic<std::uint32_t> round_{0};
};

// Does the same as `Workers::run` on temporary threads.
template <typename Work>
void parallel_for(std::size_t count, std::size_t threads, const Work& work) {
  Workers(threads < count ? threads : count).run(count, work);
}

}  // namespace kedge
