package source

// Codes of findings. A code is stable; its message may change.
const (
	// Documents.
	CodeSyntax       Code = "SYNTAX"        // the document is not valid YAML, JSON or the like
	CodeLimit        Code = "LIMIT"         // a size, depth or alias limit is exceeded
	CodeUnknownKey   Code = "UNKNOWN_KEY"   // a key that is not known at its place
	CodeMissingKey   Code = "MISSING_KEY"   // a required key is absent or empty
	CodeDuplicateKey Code = "DUPLICATE_KEY" // a key appears twice
	CodeWrongType    Code = "WRONG_TYPE"    // a value has the wrong type
	CodeBadValue     Code = "BAD_VALUE"     // a value is outside its allowed range or set
	CodeDuplicate    Code = "DUPLICATE"     // a name appears twice in a list
	CodeNoPrice      Code = "NO_PRICE"      // the budget limits money, and the price of a model is not known
	CodeUnused       Code = "UNUSED"        // a declaration is never used
	CodeIgnored      Code = "IGNORED"       // a key is accepted but has no effect
	CodeNotation     Code = "NOTATION"      // the notation to convert to has no counterpart

	// Names and references.
	CodeBadID        Code = "BAD_ID"
	CodeDuplicateID  Code = "DUPLICATE_ID"
	CodeUnknownNode  Code = "UNKNOWN_NODE"
	CodeUnknownField Code = "UNKNOWN_FIELD"
	CodeUnknownKind  Code = "UNKNOWN_KIND"
	CodeNoHandler    Code = "NO_HANDLER"    // the engine has no handler for a kind it knows
	CodeUnknownPhase Code = "UNKNOWN_PHASE" // a phase that is not declared
	CodeUnknownImpl  Code = "UNKNOWN_IMPL"  // a tool names a function that is not registered
	CodeUnknownSkill Code = "UNKNOWN_SKILL" // a skill that is not available
	CodeMissingFile  Code = "MISSING_FILE"  // a file or program does not exist
	CodeShortSecret  Code = "SHORT_SECRET"  // a secret that is too short to be masked

	// Stored runs that are continued with a changed workflow.
	CodeResumeChanged Code = "RESUME_CHANGED" // a node that has run has changed or is gone
	CodeResumeState   Code = "RESUME_STATE"   // a field of the state that has a value is gone or has another type

	// Graph.
	CodeCycle         Code = "CYCLE"
	CodeUnitCycle     Code = "UNIT_CYCLE"     // a node is between two stages of a pipeline or loop
	CodeUnitOverlap   Code = "UNIT_OVERLAP"   // a node belongs to two units
	CodeUnitEdge      Code = "UNIT_EDGE"      // an edge inside a unit goes against its order or has a condition
	CodeUnitForEach   Code = "UNIT_FOR_EACH"  // for_each on a stage or loop body
	CodeSkippedSource Code = "SKIPPED_SOURCE" // a condition lets a node run although its predecessor was skipped
	CodeDuplicateEdge Code = "DUPLICATE_EDGE" // two edges between the same nodes
	CodeUnhandled     Code = "UNHANDLED"      // failures after an on: fail edge fail the run, and no edge says that they should
	CodeElse          Code = "ELSE"           // an else edge without a condition that it negates

	// State.
	CodeMergeType       Code = "MERGE_TYPE"       // the merge strategy does not support the field's type
	CodeUnorderedWrites Code = "UNORDERED_WRITES" // only the canonical order decides which write wins
	CodeItemsReplace    Code = "ITEMS_REPLACE"    // each item or row replaces the write of the previous one
	CodeReadUnordered   Code = "READ_UNORDERED"   // a read is ordered after a write only by their levels
	CodeReadBefore      Code = "READ_BEFORE"      // all writers of a field come after its reader
	CodeNeverWritten    Code = "NEVER_WRITTEN"    // a field is read but never written
	CodeModelTools      Code = "NO_TOOLS"         // the model of a node needs tools and has none
	CodeNoWrites        Code = "NO_WRITES"        // a tool or agent does not say what it writes
	CodeStream          Code = "STREAM"           // a stream is read or written where only a value is allowed
	CodeOverwrite       Code = "OVERWRITE"        // a file or table is written by two nodes, or read and written
	CodeInput           Code = "INPUT"            // an input is missing, unknown or has the wrong type

	// Expressions.
	CodeExprSyntax   Code = "EXPR_SYNTAX"
	CodeExprType     Code = "EXPR_TYPE"
	CodeExprConstant Code = "EXPR_CONSTANT" // a condition that is always true or always false
	CodeExprName     Code = "EXPR_NAME"     // a field, function, node or root that does not exist
	CodeNodeOrder    Code = "NODE_ORDER"    // $nodes.X where X is not on a lower level
	CodeLoopBound    Code = "LOOP_BOUND"    // a loop without until and max_iters, or with an until that no node can change

	// Documents in DOT. The names of these codes, and of those for walks, are the same as
	// in other validators of pipelines in DOT.
	CodeParse          Code = "parse"                            // the document is not a graph in DOT
	CodeStylesheet     Code = "stylesheet_syntax"                // a model_stylesheet that cannot be parsed
	CodeUnresolvedFile Code = "unresolved_file_ref"              // a prompt @file that cannot be read
	CodeImport         Code = "import_error"                     // a graph that should replace a node cannot be imported
	CodeDirection      Code = "direction_valid"                  // a rankdir that does not exist
	CodeFidelity       Code = "fidelity_valid"                   // a fidelity that does not exist
	CodeThreadFidelity Code = "thread_id_requires_fidelity_full" // a thread_id without full fidelity
	CodeSelection      Code = "selection_valid"                  // a selection that does not exist
	CodePrompt         Code = "prompt_on_llm_nodes"              // a model is asked without a prompt
	CodeNoTools        Code = "tools_on_agent_nodes"             // a model needs tools and has none
	CodeReservedID     Code = "reserved_keyword_node_id"         // the id of a node is a keyword of the language
	CodeScriptDir      Code = "script_absolute_cd"               // a script changes to a folder outside of the workflow's folder
	CodeScriptMissing  Code = "script_on_command_nodes"          // a command has no script
	CodeChildMissing   Code = "child_on_manager_nodes"           // a sub-workflow that does not exist

	// Walks.
	CodeStartNode           Code = "start_node"            // not exactly one start
	CodeTerminalNode        Code = "terminal_node"         // not exactly one exit
	CodeStartNoIncoming     Code = "start_no_incoming"     // an edge leads to the start node
	CodeExitNoOutgoing      Code = "exit_no_outgoing"      // an edge leaves the exit node
	CodeReachability        Code = "reachability"          // a node cannot be reached from the start, or the exit cannot be reached
	CodeAllConditionalEdges Code = "all_conditional_edges" // every edge out of a node has a condition
	CodeFreeformEdgeCount   Code = "freeform_edge_count"   // a human node has more than one freeform edge
	CodeRandomSelection     Code = "random_selection_no_conditions"
	CodeRetryTargetExists   Code = "retry_target_exists"   // a target that is not a node
	CodeGoalGateHasRetry    Code = "goal_gate_has_retry"   // a goal gate without a node to return to
	CodeTypeKnown           Code = "type_known"            // a node type that is not registered
	CodeOrphanOutcome       Code = "orphan_custom_outcome" // a condition on an outcome that no node can have
	CodeConditionSyntax     Code = "condition_syntax"
	CodeVariable            Code = "variable_known"     // a $name without a value
	CodeRetryPolicy         Code = "retry_policy_known" // a retry policy that does not exist
	CodeJoin                Code = "join_policy"        // a join that can never fail or never succeed, or has nothing to join

	// Walks by steps.
	CodeNoEntry            Code = "no_entry"            // the walk has no entry
	CodeUnknownEntry       Code = "unknown_entry"       // the entry is not a node
	CodeUnknownSource      Code = "unknown_source"      // the source of an edge or loop is not a node
	CodeUnknownTarget      Code = "unknown_target"      // the target of an edge, transition or default is not a node
	CodeDuplicateNode      Code = "duplicate_node"      // two nodes have the same name
	CodeReservedName       Code = "reserved_name"       // a node has the name of the end
	CodeBadLoopBudget      Code = "bad_loop_budget"     // a loop that may not run once
	CodeUnreachable        Code = "unreachable"         // no edge or transition leads to a node
	CodeShadowedEdge       Code = "shadowed_edge"       // an edge after one of a higher priority without a condition
	CodeDuplicateCondition Code = "duplicate_condition" // two conditional edges between two nodes with the same priority

	// Documents of SWEny. The names of these codes are the same as in the format's own
	// validators.
	CodeSchema            Code = "SCHEMA"                        // the document does not have the structure of the format
	CodeParseDocument     Code = "PARSE"                         // the document is not valid YAML or JSON
	CodeEvalPolicy        Code = "UNSUPPORTED_EVAL_POLICY"       // a policy for combining checks that is not supported
	CodeInlineSkill       Code = "INVALID_INLINE_SKILL"          // a skill that provides nothing
	CodeSourceNotFound    Code = "SOURCE_FILE_NOT_FOUND"         // the file of an instruction does not exist
	CodeSourceUnread      Code = "SOURCE_FILE_READ_FAILED"       // the file cannot be read
	CodeSourceOutside     Code = "SOURCE_FILE_OUTSIDE_ROOT"      // the file is outside of the document's folder
	CodeSourceOffline     Code = "SOURCE_OFFLINE_REQUIRES_FETCH" // a text would have to be fetched
	CodeSourceInvalidType Code = "SOURCE_INVALID_TYPE"           // the type of a source is not known

	// Walks that are routed by a model. The names of these codes are the same as in other
	// validators of such documents.
	CodeUnknownEdgeSource Code = "UNKNOWN_EDGE_SOURCE" // the source of an edge is not a node
	CodeUnknownEdgeTarget Code = "UNKNOWN_EDGE_TARGET" // the target of an edge is not a node
	CodeMissingEntry      Code = "MISSING_ENTRY"       // the entry is not a node
	CodeUnreachableNode   Code = "UNREACHABLE_NODE"    // a node cannot be reached from the entry
	CodeSelfLoop          Code = "SELF_LOOP"           // an edge from a node to itself without a limit
	CodeUnboundedCycle    Code = "UNBOUNDED_CYCLE"     // a cycle of edges without a limit
	CodeAmbiguousEdges    Code = "AMBIGUOUS_EDGES"     // more than one edge out of a node has no condition
	CodeDeadEnd           Code = "DEAD_END"            // a stage of a walk with no edge to follow, or with none left when the limits of a cycle are used up

	// Flows. The names of these codes are the names of the rules.
	CodeStartMissing         Code = "start_missing"         // no start
	CodeStartMany            Code = "start_many"            // several starts
	CodeDanglingConnection   Code = "dangling_connection"   // a connection with an end that is not a node
	CodeSubagentSource       Code = "subagent_source"       // a delegation that does not begin at an agent
	CodeSubagentTarget       Code = "subagent_target"       // a delegation that does not end at an agent
	CodeSubagentToolOff      Code = "subagent_tool_off"     // the parent may not delegate
	CodeSubagentHandle       Code = "subagent_handle"       // a delegation that enters another handle than input
	CodeSubagentSelf         Code = "subagent_self"         // an agent that delegates to itself
	CodeSubagentParents      Code = "subagent_parents"      // a sub-agent with several parents
	CodeSubagentExecutes     Code = "subagent_executes"     // a sub-agent that is a step of the flow, too
	CodeSubagentCycle        Code = "subagent_cycle"        // sub-agents that delegate in a ring
	CodeStartUnconnected     Code = "start_unconnected"     // nothing follows the start
	CodeConditionUnconnected Code = "condition_unconnected" // nothing follows a condition, whatever it finds
	CodeApprovalUnconnected  Code = "approval_unconnected"  // nothing follows an approval, whatever the decision
)
