// What the tapes of a thread have seen: one list of op applications, in order, shared by all tapes
// that are nested in each other.
//
// Every value that some tape follows has a number here, dense and topologically ordered; the number
// stands in the tensor's header (`track`), so that finding it is one comparison. A tape is a bit:
// `followers[v]` says which tapes follow value v. An op is recorded once, when a tape that is
// recording follows one of its inputs, whatever the number of tapes. Untracked work never gets
// here.
//
// Nodes, edges, attributes and shapes are plain data in growing arrays that are kept for the next
// recording; saved tensors are the only thing with a destructor. A value that depends on a watched
// one only through an op that has no derivative keeps a number with no followers: that costs a few
// bytes and lets the tape explain a missing gradient.
#pragma once
#include <memory>
#include <source_location>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/context.h"
#include "graph/op.h"
#include "graph/variable_state.h"

namespace gradus {

class Recording {
 public:
  using Id = std::uint32_t;         // of a value
  using Followers = std::uint64_t;  // a bit per tape
  static constexpr Id kNone = ~0u;

  struct Node {
    const Op* op;                // null: a leaf (watched tensor or variable read)
    std::source_location where;  // the user's line
    std::uint32_t attrs;         // offset into words_
    std::uint32_t avals;         // offset into words_: dtype, rank and sizes of each input
    std::uint32_t first_edge;    // into edges_: one value number per input, kNone if not followed
    std::uint32_t first_saved;   // into saved_: inputs of saved_in, then outputs of saved_out
    Id first_out;
    std::uint32_t in_count, out_count;
    std::uint32_t saved_in, saved_out;  // masks; bit 31 stands for all later ones as well
    bool cut;                           // no derivative: recorded to explain, not to differentiate
  };

  static_assert(sizeof(Node) == 56);

  Recording();
  std::uint32_t serial() const { return serial_; }
  void clear();  // forgets everything, keeps the memory

  // A tape's place among the followers, and its end: no value is followed by it any more.
  Followers take_bit();
  void give_bit_back(Followers bit);
  Followers open_bits() const { return bits_; }
  // This tape's recording will also be swept forward, whose rules may read what reverse ones do
  // not.
  void keep_for_forward(Followers bit) { forward_bits_ |= bit; }

  // The number of a tensor in this recording, or kNone.
  Id find(const Tensor& t) const;
  // Gives a tensor a number, followed by these tapes.
  Id watch(const Tensor& t, Followers tapes);
  // Where the number of a new value stands: in its header, unless another recording has its there.
  enum class Place : std::uint8_t { alone, beside_another };
  // A new alias of a variable's value gets a number.
  void read_variable(VariableState& variable, const Tensor& alias, Followers tapes,
                     Place place = Place::alone);

  // Records an application whose inputs some of `tapes` follow. Returns false if none does.
  bool record(const Op& op, const void* attrs, std::span<const Tensor* const> in,
              std::span<Tensor> out, Followers tapes, Place place = Place::alone);

  std::size_t node_count() const { return nodes_.size(); }
  std::size_t value_count() const { return followers_.size(); }
  const Node& node(std::size_t i) const { return nodes_[i]; }
  std::span<const Id> edges(const Node& n) const {
    return {edges_.data() + n.first_edge, n.in_count};
  }
  const void* attrs(const Node& n) const { return words_.data() + n.attrs; }
  Followers& followers(Id v) { return followers_[v]; }
  Followers followers(Id v) const { return followers_[v]; }
  // Values that a tape began to follow after they had been made: for it they have no past.
  std::span<const std::pair<Id, Followers>> watched_late() const { return watched_late_; }

  // Fills in what a rule sees of a node; values that were not saved are undefined tensors.
  void load(const Node& n, SmallVector<Tensor, 8>& in, SmallVector<Tensor, 4>& out,
            SmallVector<Aval, 4>& avals) const;
  // Drops the tensors that a node saved.
  void release(const Node& n);
  std::size_t saved_bytes(const Node& n) const;
  std::size_t own_bytes() const;  // in use, without saved tensors

  struct VariableRead {
    std::shared_ptr<VariableState> variable;
    Id id;
  };
  const std::vector<VariableRead>& variable_reads() const { return variable_reads_; }

  // A variable that was given a value with a number: derivatives end there, which is worth telling.
  struct Assignment {
    std::shared_ptr<VariableState> variable;
    Id value;
    std::source_location where;
  };
  void note_assignment(VariableState& variable, const Tensor& value);
  const std::vector<Assignment>& assignments() const { return assignments_; }

 private:
  Id add_values(std::size_t count, Followers tapes);
  void add_leaf(Id id);
  void track(const Tensor& t, Id id, Place place);

  // Attributes and shapes, back to back; grows without initialising.
  class Words {
   public:
    std::int64_t* grow(std::size_t count);
    const std::int64_t* data() const { return words_.get(); }
    std::int64_t* data() { return words_.get(); }
    std::size_t size() const { return size_; }
    void clear() { size_ = 0; }

   private:
    std::unique_ptr<std::int64_t[]> words_;
    std::size_t size_ = 0, capacity_ = 0;
  };

  std::uint32_t serial_;
  Followers bits_ = 0, forward_bits_ = 0;
  std::vector<Node> nodes_;
  std::vector<Id> edges_;
  std::vector<Followers> followers_;
  Words words_;
  std::vector<Tensor> saved_;
  std::vector<VariableRead> variable_reads_;
  std::vector<Assignment> assignments_;
  std::vector<std::shared_ptr<const Held>> held_;  // what saved attributes refer to
  // Watched tensors whose header is taken by another thread's or an older recording.
  std::unordered_map<const TensorImpl*, Id> elsewhere_;
  std::vector<std::pair<Id, Followers>> watched_late_;
  std::vector<Tensor> watched_;  // keeps the keys of elsewhere_ alive
};

}  // namespace gradus
