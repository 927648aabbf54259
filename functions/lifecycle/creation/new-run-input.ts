import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { type ApiRequest, sourceNameOf, sourceOf } from '#api/request.ts';
import { readData, setting, settingsFrom, text, toOne } from '#api/validation.ts';
import { latestConfigurationVersion } from '#resources/configurations/latest.ts';
import {
  type ConfigurationVersion,
  getConfigurationVersion,
  mayStillBeUploaded,
} from '#resources/configurations/records.ts';
import { checkUnmanaged } from '#resources/workspaces/managed.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { isBefore114, versionProblem } from '#run/engine.ts';
import { defaultOptions } from '#run/run.ts';
import { fetchAgain } from '#version-control/fetch-again.ts';
import { acceptUpload } from './create-run.ts';

/** Input of a new run (HCP API: runs, create). */

const otherFields: OtherFields = {
  shown: `actions canceled-at created-at end-reason failed-step force-cancel-available-at has-changes permissions
      awaits-slot position-in-queue source source-name status status-timestamps trigger-reason triggering-source-name updated-at`,
  related: `apply canceled-by comments confirmed-by cost-estimate created-by plan policy-checks run-events
      run-trigger-snapshots task-stages tf-policy-evaluations triggering-run triggering-source`,
  lacking: {
    comment: 'use message, or add a comment after creating the run',
    'policy-paths': 'policies come only from policy sets',
  },
};

/**
 * Stored in the run's item, which is written some fifteen times; larger values belong in variables of the workspace.
 */
const maxVariablesBytes = 64 * 1024;

const address = v.pipe(
  text(1000),
  v.regex(/^[^\s-][^\r\n]*$/, 'must be a resource address such as "aws_instance.web[0]"'),
);

const addresses = v.pipe(v.array(address), v.maxLength(200, 'may have at most 200 addresses'));

/** Each value is an HCL expression. */
export const runVariables = v.pipe(
  v.array(
    v.object({
      key: v.pipe(
        text(128),
        v.regex(
          /^[\p{L}_][\p{L}\p{N}_-]*$/u,
          'must consist of letters, digits, "_" and "-", and not begin with a digit',
        ),
      ),
      value: v.string(),
    }),
  ),
  v.check(
    (all) => all.reduce((bytes, { key, value }) => bytes + Buffer.byteLength(key + value), 0) <= maxVariablesBytes,
    `may have at most ${maxVariablesBytes / 1024} KB per run; set large variables on the workspace`,
  ),
);

const attributes = {
  message: setting(text(10_000)),
  'is-destroy': setting(v.boolean()),
  refresh: setting(v.boolean()),
  'refresh-only': setting(v.boolean()),
  'plan-only': setting(v.boolean()),
  'save-plan': setting(v.boolean()),
  'auto-apply': setting(v.boolean()),
  'allow-empty-apply': setting(v.boolean()),
  'allow-config-generation': setting(v.boolean()),
  'debugging-mode': setting(v.boolean()),
  'target-addrs': setting(addresses),
  'replace-addrs': setting(addresses),
  'invoke-action-addrs': setting(
    v.pipe(v.array(address), v.minLength(1), v.maxLength(1, 'may have one address: a run invokes one action')),
  ),
  'terraform-version': setting(text(50)),
  variables: setting(runVariables),
};

const relationships = {
  workspace: toOne('workspaces'),
  'configuration-version': v.optional(toOne('configuration-versions')),
};

const pointer = (field: string) => `/data/attributes/${field}`;

/** Combinations that Terraform rejects; it sends refresh-only itself. @throws {ApiError} 422 */
const checkInvocation = (workspace: Workspace, options: typeof defaultOptions, version: string): void => {
  const at = pointer('invoke-action-addrs');
  const others = {
    'is-destroy': options.isDestroy,
    'target-addrs': options.targetAddrs?.length,
    'replace-addrs': options.replaceAddrs?.length,
  };
  const [other] = Object.entries(others).find(([, value]) => value) ?? [];
  if (other) throw unprocessable(at, `invoke-action-addrs: cannot be combined with ${other}`);
  if (workspace.engine === 'tofu') {
    throw unprocessable(at, `invoke-action-addrs: OpenTofu, the engine of workspace ${workspace.name}, has no actions`);
  }
  if (isBefore114(version)) {
    throw unprocessable(at, `invoke-action-addrs: actions need Terraform 1.14 or newer, not ${version}`);
  }
};

const checkTogether = (workspace: Workspace, options: typeof defaultOptions): void => {
  if (options.isDestroy && options.refreshOnly) {
    throw unprocessable(pointer('refresh-only'), 'refresh-only: cannot be combined with is-destroy');
  }
  if (options.refreshOnly && !options.refresh) {
    throw unprocessable(pointer('refresh'), 'refresh: cannot be false in a refresh-only run');
  }
  if (options.savePlan && options.planOnly) {
    throw unprocessable(pointer('save-plan'), 'save-plan: cannot be combined with plan-only, which is never applied');
  }
  if (options.isDestroy && !workspace.allowDestroyPlan) {
    throw unprocessable(
      pointer('is-destroy'),
      `is-destroy: workspace ${workspace.name} does not allow destroy plans; set allow-destroy-plan to true first`,
    );
  }
  checkUnmanaged(workspace, 'start a run');
  if (workspace.executionMode === 'local') {
    throw unprocessable(
      '/data/relationships/workspace',
      `workspace: ${workspace.name} runs Terraform locally; set its execution-mode to "remote" to run it here`,
    );
  }
};

const versionPointer = '/data/relationships/configuration-version';

const noConfiguration = ({ name, vcsRepo }: Workspace) => {
  const remedy = vcsRepo
    ? `from ${vcsRepo.identifier} yet; look for its newest commit with the action fetch-latest-from-vcs`
    : 'yet; upload one first';
  return unprocessable(versionPointer, `configuration-version: workspace ${name} has no configuration ${remedy}`);
};

/**
 * The requested configuration version, else the workspace's newest. Fetches the missing content of a commit.
 * @throws {ApiError} 422
 */
export const findVersion = async (workspace: Workspace, id: string | undefined): Promise<ConfigurationVersion> => {
  if (id === undefined) {
    const latest = await latestConfigurationVersion(workspace.id, { failedCommits: true });
    if (!latest) throw noConfiguration(workspace);
    return fetchAgain(latest);
  }
  // Eventually consistent, at half the price, if its content was uploaded some time ago.
  const shown = await getConfigurationVersion(id, false);
  const version = shown?.status === 'uploaded' ? shown : await getConfigurationVersion(id);
  if (version?.workspaceId !== workspace.id) {
    throw unprocessable(versionPointer, `configuration-version: ${id} not found in workspace ${workspace.name}`);
  }
  const checked = await fetchAgain(await acceptUpload(version));
  const { status, errorMessage = '' } = checked;
  // The run waits for an upload in progress.
  if (status === 'uploaded' || status === 'fetching') return checked;
  if (status === 'pending' && mayStillBeUploaded(checked)) return checked;
  throw unprocessable(
    versionPointer,
    `configuration-version: ${id} is ${status}, not uploaded. ${errorMessage}`.trim(),
  );
};

/** Before 1.4, Terraform's `cloud` block prints a log unchanged, so those versions get text instead of JSON lines. */
const rendersLogs = (request: ApiRequest): boolean =>
  !/^1\.[0-3]\.|^0\./.test(request.header('terraform-version') ?? '');

/** @throws {ApiError} 400 or 422 */
export const readNewRun = async (request: ApiRequest, workspace: Workspace) => {
  const input = readData(request, attributes, relationships, otherFields);
  const options = { ...defaultOptions, ...settingsFrom(input.attributes, defaultOptions) };
  const source = sourceOf(request);
  const fromTerraform = source === 'terraform' || source === 'terraform+cloud';
  if (!input.attributes.message && source !== 'tfe-api') {
    options.message = fromTerraform ? 'Triggered via CLI' : 'Triggered via UI';
  }
  checkTogether(workspace, options);
  const invokeActionAddrs = input.attributes['invoke-action-addrs'] ?? undefined;
  const versionId = input.relationships['configuration-version']?.data?.id;
  const version = await findVersion(workspace, versionId);
  const terraformVersion = input.attributes['terraform-version'] ?? undefined;
  if (terraformVersion && !options.planOnly && !version.speculative) {
    throw unprocessable(pointer('terraform-version'), 'terraform-version: only plan-only runs can set it');
  }
  const problem = terraformVersion && versionProblem(workspace.engine ?? undefined, terraformVersion);
  if (problem) throw unprocessable(pointer('terraform-version'), `terraform-version: ${problem}`);
  if (invokeActionAddrs) checkInvocation(workspace, options, terraformVersion ?? workspace.terraformVersion);
  return {
    ...options,
    ...(invokeActionAddrs ? { invokeActionAddrs } : {}),
    version,
    source,
    sourceName: sourceNameOf(request),
    rendersLogs: rendersLogs(request),
    terraformVersion,
    autoApply: input.attributes['auto-apply'] ?? undefined,
    // The command line makes a configuration version for one run, and retries requests without a response.
    ...(versionId !== undefined && fromTerraform && version.source === source ? { id: version.runId } : {}),
  };
};
