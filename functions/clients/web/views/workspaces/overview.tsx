import type { Resource } from '#clients/client/client.ts';
import { isOutOfReach } from '#clients/client/vcs-repo.ts';
import { lazily, WaitingPart } from '#clients/web/lazily.tsx';
import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps, WorkspaceAndRun, WorkspaceProps } from '#clients/web/organization.ts';
import { Ago, type Fact, Facts } from '#clients/web/parts/basics.tsx';
import { CloudBlock } from '#clients/web/parts/cloud-block.tsx';
import { Outputs } from '#clients/web/parts/outputs.tsx';
import { Outside } from '#clients/web/parts/outside.tsx';
import { knowPeople } from '#clients/web/parts/person.tsx';
import { RunLine } from '#clients/web/parts/run-line.tsx';
import { Empty } from '#clients/web/parts/section.tsx';
import { isOver } from '#clients/web/parts/status.tsx';
import { call, related } from '#clients/web/session.ts';
import { Attention } from './attention.tsx';
import { autoDestroyText } from './auto-destroy.tsx';
import { ChangeRequests, NewChangeRequest } from './change-requests.tsx';
import { LockButton, lockStatus } from './lock.tsx';

const ModuleOfWorkspace = lazily(
  () => import('#clients/web/groups/registry.ts'),
  (group) => group.ModuleOfWorkspace,
  WaitingPart,
);

/** Overview of a workspace: current run, facts and outputs. */
export const Overview = ({ workspace, run, health, project }: WorkspaceAndRun) => {
  const { attributes } = workspace;
  const organization = related(workspace, 'organization') ?? '';
  const version = related(workspace, 'current-state-version');
  const scheduled = autoDestroyText(workspace);
  return (
    <div class="sides">
      <div class="stack">
        <Attention workspace={workspace} run={run} health={health} />
        {run ? (
          <>
            <RunPanel title={isOver(run) ? 'Latest run' : 'Current run'} run={run} workspace={workspace} />
            {!isOver(run) && <LatestRun key={run.id} workspace={workspace} />}
          </>
        ) : (
          <Empty title="No runs yet">
            {attributes.permissions['can-queue-run'] && <FirstRun workspace={workspace} organization={organization} />}
          </Empty>
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
            project && ['Project', <ProjectLink key="project" project={project} organization={organization} />],
            ['Resources', attributes['resource-count']],
            ['Terraform', attributes['terraform-version']],
            ['Apply', attributes['auto-apply'] ? 'without confirmation' : 'after confirmation'],
            ['Execution mode', attributes['execution-mode']],
            repositoryFact(workspace),
            ['Working directory', attributes['working-directory'] ?? 'configuration root'],
            ['Lock', lockStatus(workspace)],
            scheduled && ['Automatic destruction', scheduled],
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

const ProjectLink = ({ project, organization }: { project: Resource<'projects'> } & OrganizationProps) => (
  <a class="break" href={hrefOf({ view: 'project', organization, id: project.id })}>
    {project.attributes.name}
  </a>
);

/** How to start the first run. */
const FirstRun = ({ workspace, organization }: WorkspaceProps) => {
  const { name, 'vcs-repo': repo, 'queue-all-runs': queuesAll } = workspace.attributes;
  if (repo) {
    const start = 'Start the first run with the button above';
    if (isOutOfReach(repo)) return <p class="soft">{start}, or check for new commits in the settings.</p>;
    const text = queuesAll
      ? `${start}, or push to ${repo.identifier}.`
      : `${start}. After that, pushes to ${repo.identifier} start runs.`;
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
const repositoryFact = ({ attributes }: Resource<'workspaces'>): Fact => {
  const { 'vcs-repo': repo } = attributes;
  if (!repo) return undefined;
  const { identifier, 'repository-http-url': url, branch, 'tags-regex': tags } = repo;
  const pushes = tags ? `tags like ${tags}` : branch ? `branch ${branch}` : 'default branch';
  return [
    'Repository',
    <span key="repository" class="break">
      <Outside url={url}>{identifier}</Outside>, {pushes}
    </span>,
  ];
};

interface RunPanelProps {
  title: string;
  run: Resource<'runs'>;
  workspace: Resource<'workspaces'>;
}

const RunPanel = ({ title, run, workspace }: RunPanelProps) => (
  <section class="panel">
    <h2 class="pad">{title}</h2>
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
  const path = `/workspaces/${workspace.id}/runs?filter[status_group]=final&include=created_by&page[size]=1`;
  const latest = useLive(path, async () => {
    const { data, included } = await call<Resource[]>('GET', path);
    knowPeople(included);
    return data;
  });
  const [run] = latest.value ?? [];
  return run ? <RunPanel title="Latest completed run" run={run} workspace={workspace} /> : null;
};

const CurrentOutputs = ({ workspace, version }: { workspace: Resource<'workspaces'>; version: string }) => {
  const path = `/workspaces/${workspace.id}/current-state-version-outputs`;
  const outputs = useLive(version, async () => (await call<Resource[]>('GET', path)).data);
  if (!outputs.value?.length) return null;
  return (
    <section class="panel">
      <h2 class="pad">Outputs</h2>
      <Outputs outputs={outputs.value} />
    </section>
  );
};
