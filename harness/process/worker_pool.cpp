// Gives items of work to child processes, and replaces those that die.
#include "harness/process/worker_pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <list>
#include <optional>
#include <random>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "harness/files/error_text.h"

namespace warpgauge::process {
namespace {

using std::chrono::steady_clock;

/// A message of a child to its parent, in a packet. Other packets come from the item's code, which
/// can write to any descriptor.
struct Message {
  enum Kind : std::uint64_t { kNone, kBegun, kEnded };
  std::uint64_t word;  ///< the same in all messages of this child, and hard to hit by chance
  Kind kind;
  std::uint64_t item;
  ItemEnd end;
};

/// A message of a parent to a child.
struct Order {
  std::uint64_t item;
  bool is_again;
};

/// A child process that does one item after the other, as its parent gives them.
class Child {
 public:
  /// `others` are those that the parent has already.
  Child(const IsolatedWork& work, const std::list<Child>& others) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::system_error(errno, std::generic_category(), "socketpair");
    std::fflush(nullptr);  // or both processes would print the buffered text
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid_ == 0) {
      close(ends[0]);
      for (const Child& other : others) close(other.socket_);
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // no orphan keeps the GPU busy
      if (getppid() != parent) _exit(1);
      dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout is for the parent's results
      _exit(live(work, ends[1]));
    }
    close(ends[1]);
    socket_ = ends[0];
    its_socket_ = ends[1];
    // Setting up CUDA and its profiler can take longer than the limit of an item.
    constexpr std::chrono::seconds kTimeToBegin{120};
    allow(std::max(work.time_limit, kTimeToBegin));
  }

  ~Child() {
    close(socket_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int socket() const { return socket_; }
  /// When it must have said something.
  steady_clock::time_point deadline() const { return deadline_; }
  /// True for a child that waits for its next item.
  bool is_idle() const { return begun_ && !item_; }
  bool has_begun() const { return begun_; }
  std::optional<std::size_t> item() const { return item_; }
  /// True for a child that has not finished a single item.
  bool is_barren() const { return !last_; }

  void give(std::size_t item, bool is_again, std::chrono::seconds time_limit) {
    item_ = item;
    time_limit_ = time_limit;
    if (begun_) allow(time_limit);
    const Order order{item, is_again};
    static_cast<void>(send(socket_, &order, sizeof order, MSG_NOSIGNAL));
  }

  void stop() const {
    if (pid_ > 0) kill(pid_, SIGKILL);
  }

  /// How its item, or the child itself, has ended.
  struct News {
    std::optional<std::size_t> done = {};   ///< this item
    std::optional<std::size_t> again = {};  ///< this item is to be done again
    bool is_over = false;                   ///< it does no more: it is to be replaced
    std::string reason = {};                ///< why, where that was not to be expected
    std::optional<std::size_t> culprit = {};
  };

  /// The news of a child that can be read from, or whose deadline is over.
  News news() {
    Message message{};
    const ssize_t got = recv(socket_, &message, sizeof message, MSG_TRUNC | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      return steady_clock::now() < deadline_ ? News() : ended();
    }
    if (got <= 0) return ended();
    if (got != sizeof message || message.word != word_) {
      const std::string reason = fmt::format(
          "its code wrote to descriptor {}, which is not its own but carries the messages of the "
          "measuring process: write only to descriptors that the code has opened",
          its_socket_);
      // If no item is at work, something that the last one left behind still is.
      return {.is_over = true, .reason = reason, .culprit = item_ ? item_ : last_};
    }
    if (message.kind == Message::kBegun && !begun_) {
      begun_ = true;
      if (item_) {
        allow(time_limit_);
      } else {
        rest();
      }
      return {};
    }
    if (item_ != message.item) {
      return {.is_over = true,
              .reason = "its code called fork(), and the child process went on as well",
              .culprit = message.item};
    }
    rest();
    last_ = std::exchange(item_, std::nullopt);
    if (message.end == ItemEnd::again) return {.again = last_, .is_over = true};
    return {.done = last_, .is_over = message.end == ItemEnd::done_with_last};
  }

 private:
  void rest() { deadline_ = steady_clock::time_point::max(); }
  void allow(std::chrono::seconds limit) {
    limit_ = limit;
    deadline_ = steady_clock::now() + limit;
  }

  News ended() {
    std::string reason = reap();
    if (reason.empty()) reason = fmt::format("time limit of {} s exceeded", limit_.count());
    return {.is_over = true, .reason = std::move(reason), .culprit = item_};
  }

  /// Returns how the child ended; empty if it lived until the deadline, and was killed. (It may
  /// have closed its end and live on.)
  std::string reap() {
    const auto deadline = std::min(deadline_, steady_clock::now() + limit_);
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      pid_ = -1;
      return "";
    }
    pid_ = -1;
    if (WIFSIGNALED(status)) {
      const int signal = WTERMSIG(status);
      return fmt::format("killed by SIG{} ({})", sigabbrev_np(signal), sigdescr_np(signal));
    }
    return fmt::format("the process ended with status {}", WEXITSTATUS(status));
  }

  int live(const IsolatedWork& work, int socket) const {
    const auto say = [&](Message::Kind kind, std::size_t item, ItemEnd end) {
      const Message message{word_, kind, item, end};
      return write(socket, &message, sizeof message) == sizeof message;
    };
    try {
      work.begin();
      if (!say(Message::kBegun, 0, ItemEnd::done)) return 1;
      for (Order order{}; read(socket, &order, sizeof order) == sizeof order;) {
        ItemEnd end = work.work(order.item, order.is_again);
        if (end == ItemEnd::again && order.is_again) end = ItemEnd::done_with_last;
        std::fflush(nullptr);
        if (!say(Message::kEnded, order.item, end)) return 1;
        if (end != ItemEnd::done) break;
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", files::error_text(error).c_str());
      return 2;
    }
    return 0;
  }

  const std::uint64_t word_ = std::random_device()() | std::uint64_t{1} << 63;
  pid_t pid_ = -1;
  int socket_ = -1;
  int its_socket_ = -1;  // the number of the child's end
  bool begun_ = false;
  std::optional<std::size_t> item_, last_;  // at work; done last
  std::chrono::seconds limit_{};            // for what it does now
  std::chrono::seconds time_limit_{};       // for its item
  steady_clock::time_point deadline_;
};

}  // namespace

/// The children, and what becomes of the items.
class WorkerPool::Impl {
 public:
  Impl(IsolatedWork work, std::size_t early) : work_(std::move(work)), items_(work_.count) {
    while (children_.size() < std::min(early, work_.count)) {
      children_.emplace_back(work_, children_);
    }
  }

  void begin_work() {
    std::size_t item = 0;
    for (Child& child : children_) give(child, item++);
  }

  void dismiss() const {
    for (const Child& child : children_) child.stop();
  }

  void work_through(std::size_t processes) {
    most_ = std::max<std::size_t>(processes, 1);
    for (std::size_t item = 0; work_.skip && item < work_.count; ++item) {
      if (!work_.skip(item)) continue;
      items_[item] = State::done;
      ++done_;
    }
    while (done_ < work_.count) {
      give_items();
      report();
      wait_for_news();
      for (auto child = children_.begin(); child != children_.end();) {
        const Child::News news = child->news();
        take(*child, news);
        if (news.is_over) {
          const bool barren = child->is_barren() && !news.culprit;
          child = children_.erase(child);
          if (barren) go_on_with_fewer(news.reason);
        } else {
          ++child;
        }
      }
    }
    report();
  }

 private:
  enum class State { waiting, given, again, done };

  void give(Child& child, std::size_t item) {
    const bool is_again = std::exchange(items_[item], State::given) == State::again;
    child.give(item, is_again, work_.time_limit);
  }

  bool may_begin(std::size_t item) const {
    const auto is_done = [&](std::size_t other) { return items_[other] == State::done; };
    return items_[item] == State::waiting &&
           (!work_.after || std::ranges::all_of(work_.after(item), is_done));
  }

  /// Every idle child gets the next item; for more items there are more children, up to the most.
  void give_items() {
    std::size_t item = 0;
    const auto has_next = [&] {
      while (item < work_.count && !may_begin(item)) ++item;
      return item < work_.count;
    };
    for (Child& child : children_) {
      if (!child.is_idle() || !has_next()) continue;
      give(child, item);
    }
    for (const Child& child : children_) {
      if (!child.has_begun() && !child.item() && has_next()) ++item;  // it will be this one's
    }
    for (; children_.size() < most_ && has_next(); ++item) children_.emplace_back(work_, children_);
    if (!std::ranges::all_of(children_, &Child::is_idle)) return;
    const auto again = std::ranges::find(items_, State::again);
    if (again == items_.end()) throw std::logic_error("an item waits for one that comes after it");
    if (is_new_ && !children_.empty()) {
      is_new_ = false;
      return give(children_.front(), static_cast<std::size_t>(again - items_.begin()));
    }
    children_.clear();  // whatever made a child do an item again may have broken these, too
    children_.emplace_back(work_, children_);
    is_new_ = true;
  }

  /// Until a child can be read from, or has been silent for too long.
  void wait_for_news() const {
    auto deadline = steady_clock::time_point::max();
    std::vector<pollfd> sockets;
    for (const Child& child : children_) {
      deadline = std::min(deadline, child.deadline());
      sockets.push_back({child.socket(), POLLIN, 0});
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
    poll(sockets.data(), sockets.size(),
         static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX)));
  }

  void take(const Child& child, const Child::News& news) {
    if (news.culprit) work_.died({*news.culprit, news.reason});
    for (const auto& item : {news.done, news.culprit}) {
      if (!item || items_[*item] == State::done) continue;
      items_[*item] = State::done;
      ++done_;
      barren_ = 0;
      unreported_.push_back(*item);
    }
    if (news.again) items_[*news.again] = State::again;
    // An item that it was given and has not begun is for another child.
    if (news.is_over && child.item() && items_[*child.item()] == State::given) {
      items_[*child.item()] = State::waiting;
    }
  }

  /// Reports done items. Called when the children have their next ones: they need not wait for it.
  void report() {
    for (const std::size_t item : std::exchange(unreported_, {})) work_.done(item);
  }

  /// Goes on without a child that could not begin, if there are others.
  void go_on_with_fewer(const std::string& reason) {
    if (!children_.empty()) {
      most_ = children_.size();
    } else if (++barren_ == 2) {
      throw std::runtime_error("the measuring process cannot start: " + reason);
    }
  }

  const IsolatedWork work_;
  std::size_t most_ = 1;  // fewer than there may be where not so many can begin
  std::vector<State> items_;
  std::size_t done_ = 0;
  std::vector<std::size_t> unreported_;  // done, and work_.done not yet called
  bool is_new_ = false;  // the child that is there alone, for an item that is done again
  int barren_ = 0;       // children in a row that finished no item, and had no other beside them
  std::list<Child> children_;
};

WorkerPool::WorkerPool(IsolatedWork work, std::size_t early)
    : impl_(std::make_unique<Impl>(std::move(work), early)) {}

WorkerPool::~WorkerPool() = default;

void WorkerPool::begin_work() { impl_->begin_work(); }

void WorkerPool::dismiss() { impl_->dismiss(); }

void WorkerPool::work_through(std::size_t processes) { impl_->work_through(processes); }

void run_isolated(const IsolatedWork& work, std::size_t processes) {
  WorkerPool(work, 0).work_through(processes);
}

}  // namespace warpgauge::process
