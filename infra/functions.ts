/** Every Lambda function of the platform. The local platform and the bundler read this too, so it imports nothing. */

export interface FunctionSpec {
  /** Module that exports `handler`, from the checkout's root. */
  entry: string;
  description: string;
  timeoutSeconds: number;
  /** 512 when nothing is said. */
  memoryMiB?: number;
}

export const functions = {
  Api: {
    entry: 'functions/public-api/api.ts',
    description: 'The public API (HCP Terraform API v2): workspaces and runs',
    // API Gateway gives up after 30 s; the function answers before.
    timeoutSeconds: 29,
  },
  States: {
    entry: 'functions/public-api/states.ts',
    description: 'The public API: locks, state versions and their outputs',
    timeoutSeconds: 29,
  },
  Access: {
    entry: 'functions/public-api/access.ts',
    description: 'The public API: accounts, tokens, teams, organizations, projects, agent pools',
    timeoutSeconds: 29,
  },
  SignIn: {
    entry: 'functions/public-api/sign-in.ts',
    description: 'Signing in: terraform login, and the issuer that people sign in at',
    timeoutSeconds: 29,
  },
  Settings: {
    entry: 'functions/public-api/settings.ts',
    description:
      'The public API: settings of workspaces, variables and sets of them, tags, run triggers, notifications',
    timeoutSeconds: 29,
  },
  Governance: {
    entry: 'functions/public-api/governance.ts',
    description: 'The public API: run tasks, policies, cost estimates',
    timeoutSeconds: 29,
  },
  Logs: {
    entry: 'functions/runs/logs-handler.ts',
    description: 'Logs of plans and applies, while they are written and after',
    timeoutSeconds: 29,
  },
  Runner: {
    entry: 'functions/runner-api/handler.ts',
    description: 'The runner protocol',
    timeoutSeconds: 29,
  },
  Agent: {
    entry: 'functions/agents/handler.ts',
    description: 'The agent protocol: jobs for machines of their owners',
    timeoutSeconds: 29,
  },
  Identity: {
    entry: 'functions/workload-identity/handler.ts',
    description: 'What workload identity tokens are verified with (OpenID Connect discovery)',
    timeoutSeconds: 10,
  },
  Web: {
    entry: 'functions/web-server/handler.ts',
    description: 'The web page: its document and assets',
    timeoutSeconds: 10,
  },
  Pending: {
    entry: 'functions/lifecycle/pending.ts',
    description: 'State Pending: waits for the turn in the queue',
    timeoutSeconds: 30,
  },
  Fetching: {
    entry: 'functions/lifecycle/fetching.ts',
    description: 'State Fetching: waits for the configuration',
    timeoutSeconds: 30,
  },
  TaskStageDone: {
    entry: 'functions/lifecycle/task-stage-done.ts',
    description: 'States …TasksDone: whether a stage of run tasks has passed',
    timeoutSeconds: 30,
  },
  PlanQueued: {
    entry: 'functions/lifecycle/plan-queued.ts',
    description: 'State PlanQueued: starts a runner for the plan',
    timeoutSeconds: 30,
  },
  Planning: {
    entry: 'functions/lifecycle/planning.ts',
    description: 'State Planning: waits for terraform plan',
    timeoutSeconds: 30,
  },
  PolicyEvaluating: {
    entry: 'functions/lifecycle/policy-evaluating.ts',
    description: 'State PolicyEvaluating: OPA evaluates policy sets',
    // OPA has 240 s and 1 GiB (functions/policies/engine/evaluate-run.ts).
    timeoutSeconds: 300,
    memoryMiB: 2048,
  },
  PostPlanAwaitingDecision: {
    entry: 'functions/lifecycle/post-plan-awaiting-decision.ts',
    description: 'State PostPlanAwaitingDecision: waits for a person to override',
    timeoutSeconds: 30,
  },
  CostEstimating: {
    entry: 'functions/lifecycle/cost-estimating.ts',
    description: 'State CostEstimating: what the plan costs',
    timeoutSeconds: 60,
  },
  PolicyChecking: {
    entry: 'functions/lifecycle/policy-checking.ts',
    description: 'State PolicyChecking: checks policy sets with three levels',
    // OPA has 240 s and 1 GiB (functions/policies/engine/evaluate-run.ts).
    timeoutSeconds: 300,
    memoryMiB: 2048,
  },
  PolicyOverride: {
    entry: 'functions/lifecycle/policy-override.ts',
    description: 'State PolicyOverride: waits for a person to override',
    timeoutSeconds: 30,
  },
  NeedsConfirmation: {
    entry: 'functions/lifecycle/needs-confirmation.ts',
    description: 'State NeedsConfirmation: waits for a person',
    timeoutSeconds: 30,
  },
  PlannedAndSaved: {
    entry: 'functions/lifecycle/planned-and-saved.ts',
    description: 'State PlannedAndSaved: keeps a plan for a person',
    timeoutSeconds: 30,
  },
  Confirmed: {
    entry: 'functions/lifecycle/confirmed.ts',
    description: 'State Confirmed: a saved plan waits for its turn',
    timeoutSeconds: 30,
  },
  ApplyQueued: {
    entry: 'functions/lifecycle/apply-queued.ts',
    description: 'State ApplyQueued: hands the apply to a runner',
    timeoutSeconds: 30,
  },
  Applying: {
    entry: 'functions/lifecycle/applying.ts',
    description: 'State Applying: waits for terraform apply',
    timeoutSeconds: 30,
  },
  RunTask: {
    entry: 'functions/lifecycle/run-task.ts',
    description: 'State RunTask: asks a run task and waits for its result',
    // A task that does not answer is asked again for about a minute and a half.
    timeoutSeconds: 150,
  },
  TaskUnanswered: {
    entry: 'functions/lifecycle/task-unanswered.ts',
    description: 'State TaskUnanswered: records why there is no result',
    timeoutSeconds: 30,
  },
  Complete: {
    entry: 'functions/lifecycle/complete.ts',
    description: 'The one finisher: final status, lock released, next run started',
    timeoutSeconds: 30,
  },
  ExecutionStopped: {
    entry: 'functions/orchestration/execution-stopped.ts',
    description: 'Finishes runs whose execution was stopped, failed or timed out',
    timeoutSeconds: 30,
  },
  Notify: {
    entry: 'functions/notifications/handler.ts',
    description: 'Tells people of runs: notification configurations of workspaces',
    // Destinations are called side by side, each for 10 s at most.
    timeoutSeconds: 60,
  },
  RunnerStopped: {
    entry: 'functions/orchestration/runner-stopped.ts',
    description: 'Ends the phase of a runner whose container is gone',
    timeoutSeconds: 30,
  },
  ConfigurationUploaded: {
    entry: 'functions/orchestration/configuration-uploaded.ts',
    description: 'Marks a configuration version uploaded and starts its run',
    timeoutSeconds: 30,
  },
  RunApplied: {
    entry: 'functions/orchestration/run-applied.ts',
    description: 'Queues the runs that an apply sets off in other workspaces',
    timeoutSeconds: 60,
  },
  Sweep: {
    entry: 'functions/orchestration/sweep.ts',
    description: 'Repairs what events and interrupted handlers left behind, every minute',
    timeoutSeconds: 60,
  },
  Bootstrap: {
    entry: 'functions/organizations/bootstrap.ts',
    description: 'Creates the first organization and its owner; invoked by an operator',
    timeoutSeconds: 30,
  },
} as const satisfies Record<string, FunctionSpec>;

export type FunctionId = keyof typeof functions;
export const functionIds = Object.keys(functions) as FunctionId[];
