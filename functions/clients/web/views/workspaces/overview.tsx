import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import { lazily, WaitingPart } from '#clients/web/lazily.tsx';
import { useLive } from '#clients/web/live.ts';
import { Ago, Facts } from '#clients/web/parts/basics.tsx';
import { CloudBlock } from '#clients/web/parts/cloud-block.tsx';
import { Outputs } from '#clients/web/parts/outputs.tsx';
import { Outside } from '#clients/web/parts/outside.tsx';
import { knowPeople } from '#clients/web/parts/person.tsx';
import { RunLine } from '#clients/web/parts/run-line.tsx';
import { isOver } from '#clients/web/parts/status.tsx';
import { call, related } from '#clients/web/session.ts';
import { autoDestroyText } from './auto-destroy.tsx';
import { ChangeRequests, NewChangeRequest } from './change-requests.tsx';
import { LockButton, lockStatus } from './lock.tsx';

const ModuleOfWorkspace = lazily(
  () => import('#clients/web/groups/registry.ts'),
  (group) => group.ModuleOfWorkspace,
  WaitingPart,
);

/** Overview of a workspace: current run, facts and outputs. */
export const Overview = ({
  workspace,
  run,
}: {
  workspace: Resource<'workspaces'>;
  run: Resource<'runs'> | undefined;
}) => {
  const { attributes } = workspace;
  const organization = related(workspace, 'organization') ?? '';
  const version = related(workspace, 'current-state-version');
  return (
    <div class="sides">
      <div class="stack">
        {run ? (
          <>
            <RunPanel title={isOver(run) ? 'Latest run' : 'Current run'} run={run} workspace={workspace} />
            {!isOver(run) && <LatestRun key={run.id} workspace={workspace} />}
          </>
        ) : (
          <section class="panel empty">
            <h2>No runs yet</h2>
            {attributes.permissions['can-queue-run'] && <FirstRun workspace={workspace} organization={organization} />}
          </section>
        )}
        {attributes['source-module-id'] && <ModuleOfWorkspace workspace={workspace} run={run} />}
        {attributes['open-change-requests'] > 0 && <ChangeRequests workspace={workspace} />}
        {version && attributes.permissions['can-read-state-outputs'] && (
          <CurrentOutputs key={version} workspace={workspace} version={version} />
        )}
      </div>
      <aside class="panel pad stack" aria-label="About this workspace">
        <Facts
          facts={[
            ['Resources', attributes['resource-count']],
            ['Terraform', attributes['terraform-version']],
            ['Apply', attributes['auto-apply'] ? 'without confirmation' : 'after confirmation'],
            ['Execution mode', attributes['execution-mode']],
            ...repositoryFact(workspace),
            ['Working directory', attributes['working-directory'] ?? 'configuration root'],
            ['Lock', lockStatus(workspace)],
            ...autoDestroyFact(workspace),
            ['Last changed', <Ago key="changed" at={attributes['latest-change-at']} />],
            ['ID', <code key="id">{workspace.id}</code>],
          ]}
        />
        <div>
          <LockButton workspace={workspace} />
        </div>
        {attributes.permissions['can-update'] && <NewChangeRequest workspace={workspace} organization={organization} />}
      </aside>
    </div>
  );
};

/** How to start the first run. */
const FirstRun = ({ workspace, organization }: { workspace: Resource<'workspaces'>; organization: string }) => {
  const { name, 'vcs-repo': repo, 'queue-all-runs': queuesAll } = workspace.attributes;
  if (repo) {
    const text = queuesAll
      ? `Start a run with the button above, or push to ${repo.identifier}.`
      : `Start the first run with the button above. After that, pushes to ${repo.identifier} start runs.`;
    return <p class="soft">{text}</p>;
  }
  return (
    <>
      <p class="soft">Start a run with the button above, or add this block to your Terraform configuration.</p>
      <CloudBlock organization={organization} workspace={name} />
    </>
  );
};

/** The workspace's repository, and the branch or tags that start its runs. */
const repositoryFact = ({ attributes }: Resource<'workspaces'>): [name: string, value: ComponentChildren][] => {
  const { 'vcs-repo': repo } = attributes;
  if (!repo) return [];
  const { identifier, 'repository-http-url': url, branch, 'tags-regex': tags } = repo;
  const pushes = tags ? `tags like ${tags}` : branch ? `branch ${branch}` : 'default branch';
  return [
    [
      'Repository',
      <span key="repository" class="break">
        <Outside url={url}>{identifier}</Outside>, {pushes}
      </span>,
    ],
  ];
};

const autoDestroyFact = (workspace: Resource<'workspaces'>): [name: string, value: string][] => {
  const text = autoDestroyText(workspace);
  return text ? [['Automatic destruction', text]] : [];
};

const RunPanel = ({
  title,
  run,
  workspace,
}: {
  title: string;
  run: Resource<'runs'>;
  workspace: Resource<'workspaces'>;
}) => (
  <section class="panel">
    <div class="pad row">
      <h2>{title}</h2>
    </div>
    <ul class="list">
      <RunLine
        run={run}
        organization={related(workspace, 'organization') ?? ''}
        workspace={workspace.attributes.name}
      />
    </ul>
  </section>
);

/** The latest completed run, while another one is in progress. */
const LatestRun = ({ workspace }: { workspace: Resource<'workspaces'> }) => {
  const latest = useLive(
    `latest/${workspace.id}`,
    async () => {
      const path = `/workspaces/${workspace.id}/runs?filter[status_group]=final&include=created_by&page[size]=1`;
      const { data, included } = await call<Resource[]>('GET', path);
      knowPeople(included);
      return data;
    },
    () => undefined,
  );
  const [run] = latest.value ?? [];
  return run ? <RunPanel title="Latest completed run" run={run} workspace={workspace} /> : null;
};

const CurrentOutputs = ({ workspace, version }: { workspace: Resource<'workspaces'>; version: string }) => {
  const outputs = useLive(
    `outputs/${version}`,
    async () => (await call<Resource[]>('GET', `/workspaces/${workspace.id}/current-state-version-outputs`)).data,
    () => undefined,
  );
  if (!outputs.value?.length) return null;
  return (
    <section class="panel">
      <div class="pad row">
        <h2>Outputs</h2>
      </div>
      <Outputs outputs={outputs.value} />
    </section>
  );
};
