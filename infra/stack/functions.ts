import type { CheckState, WaitingState } from '../functions/run/machine-states.ts';
import type { Declaration, HttpDeclaration, StateDeclaration } from './declaration.ts';
import { Access } from './functions/access.ts';
import { Agent } from './functions/agent.ts';
import { Api } from './functions/api.ts';
import { ApplyQueued } from './functions/apply-queued.ts';
import { Applying } from './functions/applying.ts';
import { Bootstrap } from './functions/bootstrap.ts';
import { CommitStatus } from './functions/commit-status.ts';
import { Complete } from './functions/complete.ts';
import { ConfigurationUploaded } from './functions/configuration-uploaded.ts';
import { Confirmed } from './functions/confirmed.ts';
import { CostEstimating } from './functions/cost-estimating.ts';
import { DataRetention } from './functions/data-retention.ts';
import { EnvironmentBuilds } from './functions/environment-builds.ts';
import { EnvironmentFiles } from './functions/environment-files.ts';
import { EnvironmentGovernance } from './functions/environment-governance.ts';
import { EnvironmentLogs } from './functions/environment-logs.ts';
import { EnvironmentSettle } from './functions/environment-settle.ts';
import { EnvironmentSweep } from './functions/environment-sweep.ts';
import { EnvironmentTemplates } from './functions/environment-templates.ts';
import { Environments } from './functions/environments.ts';
import { ExecutionStopped } from './functions/execution-stopped.ts';
import { Explorer } from './functions/explorer.ts';
import { FetchCommit } from './functions/fetch-commit.ts';
import { FetchProvider } from './functions/fetch-provider.ts';
import { Fetching } from './functions/fetching.ts';
import { Governance } from './functions/governance.ts';
import { Identity } from './functions/identity.ts';
import { Logs } from './functions/logs.ts';
import { Modules } from './functions/modules.ts';
import { NeedsConfirmation } from './functions/needs-confirmation.ts';
import { Notify } from './functions/notify.ts';
import { Organizations } from './functions/organizations.ts';
import { Pending } from './functions/pending.ts';
import { PlanQueued } from './functions/plan-queued.ts';
import { PlannedAndSaved } from './functions/planned-and-saved.ts';
import { Planning } from './functions/planning.ts';
import { Policies } from './functions/policies.ts';
import { PolicyChecking } from './functions/policy-checking.ts';
import { PolicyEvaluating } from './functions/policy-evaluating.ts';
import { PolicyOverride } from './functions/policy-override.ts';
import { PostPlanAwaitingDecision } from './functions/post-plan-awaiting-decision.ts';
import { Recover } from './functions/recover.ts';
import { Registry } from './functions/registry.ts';
import { RunApplied } from './functions/run-applied.ts';
import { RunTask } from './functions/run-task.ts';
import { Runner } from './functions/runner.ts';
import { RunnerStopped } from './functions/runner-stopped.ts';
import { Runs } from './functions/runs.ts';
import { Settings } from './functions/settings.ts';
import { SignIn } from './functions/sign-in.ts';
import { States } from './functions/states.ts';
import { Sweep } from './functions/sweep.ts';
import { TaskStageDone } from './functions/task-stage-done.ts';
import { TaskUnanswered } from './functions/task-unanswered.ts';
import { TestRuns } from './functions/test-runs.ts';
import { VersionControl } from './functions/version-control.ts';
import { VersionControlEvent } from './functions/version-control-event.ts';
import { Web } from './functions/web.ts';
import { Webhooks } from './functions/webhooks.ts';
import { Workspaces } from './functions/workspaces.ts';

/** Every Lambda function of the platform: one file each. The local platform and the bundler read this too. */

export const httpFunctions = {
  Api,
  Runs,
  States,
  Access,
  Organizations,
  SignIn,
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
  Environments,
  EnvironmentBuilds,
  EnvironmentTemplates,
} satisfies Record<string, HttpDeclaration>;

/**
 * `RunTask` and `TaskUnanswered` are the states of a stage's tasks, `TaskStageDone` is behind every `…TasksDone`, `Complete`
 * is the one finisher.
 */
type SharedByStates = 'RunTask' | 'TaskUnanswered' | 'TaskStageDone' | 'Complete';

/** Functions behind the machine's states, named like the state. */
export const stateFunctions = {
  Pending,
  Fetching,
  RunTask,
  TaskUnanswered,
  TaskStageDone,
  PlanQueued,
  Planning,
  PolicyEvaluating,
  PostPlanAwaitingDecision,
  CostEstimating,
  PolicyChecking,
  PolicyOverride,
  NeedsConfirmation,
  PlannedAndSaved,
  Confirmed,
  ApplyQueued,
  Applying,
  Complete,
} satisfies Record<WaitingState | CheckState | SharedByStates, StateDeclaration>;

/** Called by events, by the clock, by other functions or by an operator. */
const otherFunctions = {
  ExecutionStopped,
  Notify,
  CommitStatus,
  FetchCommit,
  FetchProvider,
  VersionControlEvent,
  RunnerStopped,
  ConfigurationUploaded,
  RunApplied,
  Sweep,
  Bootstrap,
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
