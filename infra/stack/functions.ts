import { Access } from '#infra/functions/access.ts';
import { Agent } from '#infra/functions/agent.ts';
import { Api } from '#infra/functions/api.ts';
import { ApplyQueued } from '#infra/functions/apply-queued.ts';
import { AwaitTurn } from '#infra/functions/await-turn.ts';
import { Bootstrap } from '#infra/functions/bootstrap.ts';
import { CommitStatus } from '#infra/functions/commit-status.ts';
import { CompilePolicies } from '#infra/functions/compile-policies.ts';
import { Complete } from '#infra/functions/complete.ts';
import { ConfigurationUploaded } from '#infra/functions/configuration-uploaded.ts';
import { Confirmed } from '#infra/functions/confirmed.ts';
import { CostEstimating } from '#infra/functions/cost-estimating.ts';
import { DataRetention } from '#infra/functions/data-retention.ts';
import { Docs } from '#infra/functions/docs.ts';
import { Drain } from '#infra/functions/drain.ts';
import { EnterState } from '#infra/functions/enter-state.ts';
import { EnvironmentBuilds } from '#infra/functions/environment-builds.ts';
import { EnvironmentFiles } from '#infra/functions/environment-files.ts';
import { EnvironmentGovernance } from '#infra/functions/environment-governance.ts';
import { EnvironmentLogs } from '#infra/functions/environment-logs.ts';
import { EnvironmentSettle } from '#infra/functions/environment-settle.ts';
import { EnvironmentSweep } from '#infra/functions/environment-sweep.ts';
import { EnvironmentTemplates } from '#infra/functions/environment-templates.ts';
import { Environments } from '#infra/functions/environments.ts';
import { ExecutionStopped } from '#infra/functions/execution-stopped.ts';
import { Explorer } from '#infra/functions/explorer.ts';
import { FetchCommit } from '#infra/functions/fetch-commit.ts';
import { FetchProvider } from '#infra/functions/fetch-provider.ts';
import { Fetching } from '#infra/functions/fetching.ts';
import { Governance } from '#infra/functions/governance.ts';
import { Identity } from '#infra/functions/identity.ts';
import { Logs } from '#infra/functions/logs.ts';
import { Modules } from '#infra/functions/modules.ts';
import { Notify } from '#infra/functions/notify.ts';
import { Organizations } from '#infra/functions/organizations.ts';
import { PlanQueued } from '#infra/functions/plan-queued.ts';
import { PlannedAndSaved } from '#infra/functions/planned-and-saved.ts';
import { Policies } from '#infra/functions/policies.ts';
import { PolicyChecking } from '#infra/functions/policy-checking.ts';
import { PolicyEvaluating } from '#infra/functions/policy-evaluating.ts';
import { Recover } from '#infra/functions/recover.ts';
import { Registry } from '#infra/functions/registry.ts';
import { RunApplied } from '#infra/functions/run-applied.ts';
import { RunTask } from '#infra/functions/run-task.ts';
import { Runner } from '#infra/functions/runner.ts';
import { RunnerStopped } from '#infra/functions/runner-stopped.ts';
import { Runs } from '#infra/functions/runs.ts';
import { Saml } from '#infra/functions/saml.ts';
import { Scim } from '#infra/functions/scim.ts';
import { Settings } from '#infra/functions/settings.ts';
import { SignIn } from '#infra/functions/sign-in.ts';
import { Slack } from '#infra/functions/slack.ts';
import { StateUploaded } from '#infra/functions/state-uploaded.ts';
import { States } from '#infra/functions/states.ts';
import { Sweep } from '#infra/functions/sweep.ts';
import { TaskStageDone } from '#infra/functions/task-stage-done.ts';
import { TaskUnanswered } from '#infra/functions/task-unanswered.ts';
import { TestRuns } from '#infra/functions/test-runs.ts';
import { Trace } from '#infra/functions/trace.ts';
import { VersionControl } from '#infra/functions/version-control.ts';
import { VersionControlEvent } from '#infra/functions/version-control-event.ts';
import { Web } from '#infra/functions/web.ts';
import { Webhooks } from '#infra/functions/webhooks.ts';
import { Workspaces } from '#infra/functions/workspaces.ts';
import type { CheckState, PlainState, WaitingState } from '#run/machine-states.ts';
import type { SlotState } from '#run/slots.ts';
import type { Declaration, HttpDeclaration, StateDeclaration } from './declaration.ts';

/** Every Lambda function of the platform, one file each. The local platform and the bundler read this list too. */

export const httpFunctions = {
  Api,
  Runs,
  States,
  Access,
  Organizations,
  SignIn,
  Saml,
  Scim,
  Slack,
  Workspaces,
  Settings,
  Governance,
  Explorer,
  Policies,
  Registry,
  Modules,
  TestRuns,
  VersionControl,
  Webhooks,
  Logs,
  Runner,
  Agent,
  Identity,
  Web,
  Docs,
  Environments,
  EnvironmentBuilds,
  EnvironmentTemplates,
} satisfies Record<string, HttpDeclaration>;

/**
 * `EnterState` serves every state that only waits, `AwaitTurn` those that wait in the queue or for a slot, `RunTask` and `TaskUnanswered` serve the states of a stage's tasks,
 * `TaskStageDone` serves every `…TasksDone`, and `Complete` serves every ending.
 */
type SharedByStates = 'EnterState' | 'AwaitTurn' | 'RunTask' | 'TaskUnanswered' | 'TaskStageDone' | 'Complete';

/** Functions behind states of the machine, named like the state if they have one. */
export const stateFunctions = {
  EnterState,
  AwaitTurn,
  Fetching,
  RunTask,
  TaskUnanswered,
  TaskStageDone,
  PlanQueued,
  PolicyEvaluating,
  CostEstimating,
  PolicyChecking,
  PlannedAndSaved,
  Confirmed,
  ApplyQueued,
  Complete,
} satisfies Record<
  Exclude<WaitingState, PlainState | 'Pending' | SlotState> | CheckState | SharedByStates,
  StateDeclaration
>;

/** Functions that events, schedules, other functions or an operator invoke. */
const otherFunctions = {
  ExecutionStopped,
  Notify,
  Trace,
  CommitStatus,
  CompilePolicies,
  FetchCommit,
  FetchProvider,
  VersionControlEvent,
  RunnerStopped,
  ConfigurationUploaded,
  StateUploaded,
  RunApplied,
  Sweep,
  Bootstrap,
  Drain,
  EnvironmentFiles,
  EnvironmentGovernance,
  EnvironmentLogs,
  EnvironmentSettle,
  EnvironmentSweep,
  DataRetention,
  Recover,
} satisfies Record<string, Declaration>;

export const functions = { ...httpFunctions, ...stateFunctions, ...otherFunctions };

export type HttpFunction = keyof typeof httpFunctions;
export type LifecycleFunction = keyof typeof stateFunctions;
export type FunctionId = keyof typeof functions;
export const httpFunctionIds = Object.keys(httpFunctions) as HttpFunction[];
export const lifecycleFunctions = Object.keys(stateFunctions) as LifecycleFunction[];
export const functionIds = Object.keys(functions) as FunctionId[];
