package source

// Codes of findings. A code is stable; its message may change.
const (
	// Documents.
	CodeSyntax       Code = "SYNTAX"        // the text is not valid YAML, JSON or the like
	CodeLimit        Code = "LIMIT"         // a size, depth or alias limit is exceeded
	CodeUnknownKey   Code = "UNKNOWN_KEY"   // a key the place does not have
	CodeMissingKey   Code = "MISSING_KEY"   // a required key is absent or empty
	CodeDuplicateKey Code = "DUPLICATE_KEY" // a key appears twice
	CodeWrongType    Code = "WRONG_TYPE"    // a value has the wrong type
	CodeBadValue     Code = "BAD_VALUE"     // a value is outside what is allowed
	CodeDuplicate    Code = "DUPLICATE"     // a name appears twice in a list
	CodeNoPrice      Code = "NO_PRICE"      // a budget of money, and a model whose price is not known
	CodeUnused       Code = "UNUSED"        // something declared is never used
	CodeIgnored      Code = "IGNORED"       // a key is accepted but has no effect

	// Names and references.
	CodeBadID        Code = "BAD_ID"
	CodeDuplicateID  Code = "DUPLICATE_ID"
	CodeUnknownNode  Code = "UNKNOWN_NODE"
	CodeUnknownField Code = "UNKNOWN_FIELD"
	CodeUnknownKind  Code = "UNKNOWN_KIND"
	CodeNoHandler    Code = "NO_HANDLER"    // the engine has no handler for a kind it knows
	CodeUnknownPhase Code = "UNKNOWN_PHASE" // a phase that is not among the declared ones
	CodeUnknownImpl  Code = "UNKNOWN_IMPL"  // a tool names a function that is not registered
	CodeUnknownSkill Code = "UNKNOWN_SKILL" // a skill that nobody provides
	CodeMissingFile  Code = "MISSING_FILE"  // a file or program that is not there
	CodeShortSecret  Code = "SHORT_SECRET"  // a secret that is too short to be hidden in texts

	// Graph.
	CodeCycle         Code = "CYCLE"
	CodeUnitCycle     Code = "UNIT_CYCLE"     // a node lies between two stages of a pipeline or loop
	CodeUnitOverlap   Code = "UNIT_OVERLAP"   // a node belongs to two units
	CodeUnitEdge      Code = "UNIT_EDGE"      // an edge inside a unit against its order or with a condition
	CodeUnitForEach   Code = "UNIT_FOR_EACH"  // for_each on a stage or loop body
	CodeSkippedSource Code = "SKIPPED_SOURCE" // a condition lets a node run although the node before it was skipped
	CodeDuplicateEdge Code = "DUPLICATE_EDGE" // two edges between the same nodes
	CodeUnhandled     Code = "UNHANDLED"      // failures behind on: fail fail the run, and no edge says that they should
	CodeElse          Code = "ELSE"           // an else edge without a condition it is the opposite of

	// State.
	CodeMergeType       Code = "MERGE_TYPE"       // the merge strategy cannot work on the field's type
	CodeUnorderedWrites Code = "UNORDERED_WRITES" // only the canonical order decides which write wins
	CodeItemsReplace    Code = "ITEMS_REPLACE"    // each item or row replaces what the one before it wrote
	CodeReadUnordered   Code = "READ_UNORDERED"   // a read is ordered after a write only by its wave
	CodeReadBefore      Code = "READ_BEFORE"      // the only writers of a read field come later
	CodeNeverWritten    Code = "NEVER_WRITTEN"    // a field is read but nobody writes it
	CodeModelTools      Code = "NO_TOOLS"         // the model of a node needs tools and has none
	CodeNoWrites        Code = "NO_WRITES"        // a tool or agent does not say what it writes
	CodeStream          Code = "STREAM"           // a stream is read or written where only a value can be
	CodeOverwrite       Code = "OVERWRITE"        // a file or table is written by two nodes, or read and written
	CodeInput           Code = "INPUT"            // an input is missing, unknown or has the wrong type

	// Expressions.
	CodeExprSyntax   Code = "EXPR_SYNTAX"
	CodeExprType     Code = "EXPR_TYPE"
	CodeExprConstant Code = "EXPR_CONSTANT" // a condition that is always true or always false
	CodeExprName     Code = "EXPR_NAME"     // a field, function, node or root that does not exist
	CodeNodeOrder    Code = "NODE_ORDER"    // $nodes.X where X is not on a lower level
	CodeLoopBound    Code = "LOOP_BOUND"    // a loop without until and max_iters, or an until nothing can change

	// Documents in DOT. These names, and those of walks, are those that validators of
	// pipelines in DOT use.
	CodeParse          Code = "parse"                            // the text is no graph in DOT
	CodeStylesheet     Code = "stylesheet_syntax"                // a model_stylesheet that cannot be read
	CodeUnresolvedFile Code = "unresolved_file_ref"              // a prompt @file that cannot be read
	CodeImport         Code = "import_error"                     // a graph that should be put in place of a node
	CodeDirection      Code = "direction_valid"                  // a rankdir that does not exist
	CodeFidelity       Code = "fidelity_valid"                   // a fidelity that does not exist
	CodeThreadFidelity Code = "thread_id_requires_fidelity_full" // a thread_id without full fidelity
	CodeSelection      Code = "selection_valid"                  // a selection that does not exist
	CodePrompt         Code = "prompt_on_llm_nodes"              // a model is asked without a prompt
	CodeNoTools        Code = "tools_on_agent_nodes"             // a model is to have tools and has none
	CodeReservedID     Code = "reserved_keyword_node_id"         // a node is called like a word of the language
	CodeScriptDir      Code = "script_absolute_cd"               // a script changes into a folder outside of the workflow's
	CodeScriptMissing  Code = "script_on_command_nodes"          // a command has no script
	CodeChildMissing   Code = "child_on_manager_nodes"           // a sub-workflow that is not there

	// Walks.
	CodeStartNode           Code = "start_node"            // not exactly one start
	CodeTerminalNode        Code = "terminal_node"         // not exactly one exit
	CodeStartNoIncoming     Code = "start_no_incoming"     // an edge leads to the start
	CodeExitNoOutgoing      Code = "exit_no_outgoing"      // an edge leaves the exit
	CodeReachability        Code = "reachability"          // a node cannot be reached from the start, or the exit from nowhere
	CodeAllConditionalEdges Code = "all_conditional_edges" // every edge out of a node has a condition
	CodeFreeformEdgeCount   Code = "freeform_edge_count"   // a human node has more than one freeform edge
	CodeRandomSelection     Code = "random_selection_no_conditions"
	CodeRetryTargetExists   Code = "retry_target_exists"   // a target that is not a node
	CodeGoalGateHasRetry    Code = "goal_gate_has_retry"   // a goal gate without anywhere to go back to
	CodeTypeKnown           Code = "type_known"            // a node type that nobody has registered
	CodeOrphanOutcome       Code = "orphan_custom_outcome" // a condition on an outcome that no node can have
	CodeConditionSyntax     Code = "condition_syntax"
	CodeVariable            Code = "variable_known"     // a $name that nothing has a value for
	CodeRetryPolicy         Code = "retry_policy_known" // a retry policy that does not exist
	CodeJoin                Code = "join_policy"        // a join that can never or will always succeed, or has nothing to join

	// Documents of SWEny. These names are those that the format's own validators use.
	CodeSchema            Code = "SCHEMA"                        // the document has not the shape of the format
	CodeParseDocument     Code = "PARSE"                         // the text is no YAML or JSON
	CodeEvalPolicy        Code = "UNSUPPORTED_EVAL_POLICY"       // a way to weigh checks that is not supported
	CodeInlineSkill       Code = "INVALID_INLINE_SKILL"          // a skill that provides nothing
	CodeSourceNotFound    Code = "SOURCE_FILE_NOT_FOUND"         // the file of a text is not there
	CodeSourceUnread      Code = "SOURCE_FILE_READ_FAILED"       // it cannot be read
	CodeSourceOutside     Code = "SOURCE_FILE_OUTSIDE_ROOT"      // it lies outside of the document's folder
	CodeSourceOffline     Code = "SOURCE_OFFLINE_REQUIRES_FETCH" // a text would have to be fetched
	CodeSourceInvalidType Code = "SOURCE_INVALID_TYPE"           // there is no such way to fetch a text

	// Walks that a model routes. These names are those that validators of such documents use.
	CodeUnknownEdgeSource Code = "UNKNOWN_EDGE_SOURCE" // an edge comes from no node
	CodeUnknownEdgeTarget Code = "UNKNOWN_EDGE_TARGET" // an edge leads to no node
	CodeMissingEntry      Code = "MISSING_ENTRY"       // the walk begins at no node
	CodeUnreachableNode   Code = "UNREACHABLE_NODE"    // no way leads to a node from the entry
	CodeSelfLoop          Code = "SELF_LOOP"           // an edge from a node to itself without a bound
	CodeUnboundedCycle    Code = "UNBOUNDED_CYCLE"     // a ring of edges none of which has a bound
	CodeAmbiguousEdges    Code = "AMBIGUOUS_EDGES"     // more than one edge out of a node has no condition
	CodeDeadEnd           Code = "DEAD_END"            // a stage of a walk that no way leads on from: no edge, or none that is left when the bounds of a ring are used up
)
