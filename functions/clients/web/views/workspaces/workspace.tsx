import { useSignal } from '@preact/signals';
import type { Tab } from '#clients/client/page-addresses.ts';
import { pollMs, useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps, WorkspaceAndRun, WorkspaceProps } from '#clients/web/organization.ts';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { Tags } from '#clients/web/parts/list.tsx';
import { Page } from '#clients/web/parts/page.tsx';
import { knowPeople } from '#clients/web/parts/person.tsx';
import { Tabs } from '#clients/web/parts/tabs.tsx';
import { call } from '#clients/web/session.ts';
import { textOfTag } from '#clients/web/text/tags.ts';
import { Queries } from '../queries/queries.tsx';
import { Resources } from '../resources/resources.tsx';
import { NewRun } from '../runs/new-run.tsx';
import { Runs } from '../runs/runs.tsx';
import { States } from '../states/state-versions.tsx';
import { WorkspaceVariables } from '../variables/variables.tsx';
import { Health } from './health.tsx';
import { LockBar } from './lock.tsx';
import { Overview } from './overview.tsx';
import { Settings } from './settings.tsx';

const load = async (organization: string, name: string): Promise<WorkspaceAndRun> => {
  const path = `/organizations/${encodeURIComponent(organization)}/workspaces/${encodeURIComponent(name)}`;
  const { data, included = [] } = await call('GET', `${path}?include=current_run,current_assessment_result,project`);
  knowPeople(included);
  return {
    workspace: data,
    run: included.find(({ type }) => type === 'runs'),
    health: included.find(({ type }) => type === 'assessment-results'),
    project: included.find(({ type }) => type === 'projects'),
  };
};

const names: [Tab, string][] = [
  ['overview', 'Overview'],
  ['runs', 'Runs'],
  ['resources', 'Resources'],
  ['states', 'States'],
  ['health', 'Health'],
  ['queries', 'Queries'],
  ['variables', 'Variables'],
  ['settings', 'Settings'],
];

export const WorkspaceView = ({
  organization,
  workspace: name,
  tab,
}: OrganizationProps & { workspace: string; tab: Tab }) => {
  const live = useLive(`workspace/${organization}/${name}`, () => load(organization, name), pollMs);
  return (
    <Page
      title={`${name} · ${organization}`}
      organization={organization}
      crumbs={[{ text: name }]}
      live={live}
      what="workspace"
    >
      {(value) => (
        <>
          <Head workspace={value.workspace} organization={organization} />
          <LockBar workspace={value.workspace} onChange={live.refresh} />
          <Tabs
            label="Workspace"
            tabs={names.map(([one, text]) => ({
              text,
              to: { view: 'workspace', organization, workspace: name, tab: one },
              current: one === tab,
            }))}
          />
          <TabView tab={tab} {...value} organization={organization} onChange={live.refresh} />
        </>
      )}
    </Page>
  );
};

const Head = ({ workspace, organization }: WorkspaceProps) => {
  const { name, description, permissions, tags, 'managed-by': owner } = workspace.attributes;
  return (
    <div class="row spread top-aligned">
      <div class="grow">
        <h1>{name}</h1>
        {owner && (
          <p class="row">
            <Tags of={[owner]} />
            <span class="soft small">
              {owner.startsWith('environment ') ? (
                <>
                  Its runs are builds. Start and stop it under{' '}
                  <a href={hrefOf({ view: 'environments', organization })}>Environments</a>.
                </>
              ) : (
                <>
                  Its runs import versions. See <a href={hrefOf({ view: 'templates', organization })}>Templates</a>.
                </>
              )}
            </span>
          </p>
        )}
        {description && <p class="soft break">{description}</p>}
        {tags.length > 0 && <TagList tags={tags.map(textOfTag)} />}
      </div>
      {permissions['can-queue-run'] && !owner && (
        <DialogButton text="Start new run" primary>
          {(close) => <NewRun workspace={workspace} organization={organization} onClose={close} />}
        </DialogButton>
      )}
    </div>
  );
};

const fewTags = 5;

const TagList = ({ tags }: { tags: string[] }) => {
  const whole = useSignal(tags.length <= fewTags);
  return (
    <p class="row">
      <Tags of={whole.value ? tags : tags.slice(0, fewTags)} />
      {!whole.value && (
        <button type="button" class="link small" onClick={() => (whole.value = true)}>
          {tags.length - fewTags} more tags
        </button>
      )}
    </p>
  );
};

interface TabProps extends WorkspaceAndRun, OrganizationProps {
  tab: Tab;
  onChange(): void;
}

const TabView = ({ tab, organization, onChange, ...shown }: TabProps) => {
  const { workspace, run } = shown;
  switch (tab) {
    case 'runs':
      return <Runs workspace={workspace} run={run} />;
    case 'resources':
      return <Resources workspace={workspace} />;
    case 'states':
      return <States workspace={workspace} organization={organization} />;
    case 'health':
      return <Health workspace={workspace} organization={organization} />;
    case 'queries':
      return <Queries workspace={workspace} organization={organization} />;
    case 'variables':
      return <WorkspaceVariables workspace={workspace} organization={organization} />;
    case 'settings':
      return <Settings key={workspace.id} workspace={workspace} organization={organization} onChange={onChange} />;
    default:
      return <Overview {...shown} />;
  }
};
