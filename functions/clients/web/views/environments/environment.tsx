import { type Build, type Environment, isBusy, read, segment, toneOf, useRights } from '#clients/web/environments.ts';
import { type Live, pollMs, useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago, Facts, Notice } from '#clients/web/parts/basics.tsx';
import { Titled } from '#clients/web/parts/head.tsx';
import { Tags } from '#clients/web/parts/list.tsx';
import { Page } from '#clients/web/parts/page.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { scheduleText } from '#clients/web/text/environment-schedule.ts';
import { Actions } from './actions.tsx';
import { Builds } from './builds.tsx';
import { Schedule } from './schedule.tsx';
import { Until } from './until.tsx';

interface ViewData {
  environment: Environment;
  /** Newest first. */
  builds: Build[];
}

const maxBuilds = 50;
const restMs = 5_000;

const load = async (id: string): Promise<ViewData> => {
  const path = `/workspaces/${segment(id)}`;
  const deleted = 'include_deleted=true';
  const [environment, builds] = await Promise.all([
    read<Environment>(`${path}?${deleted}`),
    read<Build[]>(`${path}/builds?${deleted}&limit=${maxBuilds}`),
  ]);
  return { environment, builds };
};

/** One environment: status, schedule and build history. */
export const EnvironmentView = ({ organization, id }: OrganizationProps & { id: string }) => {
  const live = useLive(
    `environment/${id}`,
    () => load(id),
    ({ environment: { latest_build: build } }) => {
      if (build.status === 'deleted') return undefined;
      return isBusy(build) ? pollMs : restMs;
    },
  );
  const name = live.value?.environment.name;
  return (
    <Page
      title={name ? `${live.value?.environment.latest_build.status}: ${name}` : 'Environment'}
      tone={live.value && toneOf(live.value.environment.latest_build.status)}
      organization={organization}
      crumbs={[{ text: 'Environments', to: { view: 'environments', organization } }, { text: name ?? id }]}
      live={live}
      what="environment"
    >
      {(loaded) => <One {...loaded} organization={organization} live={live} />}
    </Page>
  );
};

const One = ({ environment, builds, organization, live }: ViewData & OrganizationProps & { live: Live<ViewData> }) => {
  const { latest_build: build } = environment;
  const rights = useRights(organization);
  const isDeleted = build.status === 'deleted';
  // Prebuilds belong to their pool until a user claims them.
  const mayChange = !isDeleted && (!environment.is_prebuild || rights.manage);
  return (
    <>
      <Titled
        title={environment.name}
        beside={
          <>
            <span class={`status ${toneOf(build.status)}`}>{build.status}</span>
            <Tags
              of={[
                environment.is_prebuild && 'prebuild',
                environment.dormant_at && 'dormant',
                environment.outdated && !isDeleted && 'outdated',
              ]}
            />
          </>
        }
      >
        {mayChange && <Actions environment={environment} mayOrphan={rights.manage} onChange={live.refresh} />}
      </Titled>
      {build.job.error && (
        <Notice kind="bad">
          <strong>Build {build.build_number} failed.</strong> {build.job.error}
        </Notice>
      )}
      {environment.dormant_at && !isDeleted && <Dormant environment={environment} />}
      <div class="sides">
        <Builds builds={builds} organization={organization} mayCancel={mayChange} onChange={live.refresh} />
        <div class="stack">
          <About environment={environment} organization={organization} />
          {!isDeleted && !environment.is_prebuild && <Schedule environment={environment} onChange={live.refresh} />}
        </div>
      </div>
    </>
  );
};

const Dormant = ({ environment: { dormant_at: since, deleting_at: deleting } }: { environment: Environment }) => (
  <Notice kind="warn">
    Dormant since <Ago at={since ?? ''} /> because it was not used. Start it to wake it.
    {deleting && (
      <>
        {' '}
        It is deleted <Until at={deleting} />.
      </>
    )}
  </Notice>
);

const About = ({ environment, organization }: OrganizationProps & { environment: Environment }) => {
  const { latest_build: build } = environment;
  const template = (
    <a href={hrefOf({ view: 'template', organization, id: environment.template_id })}>{environment.template_name}</a>
  );
  const resources = build.resources.map(({ type, name }) => `${type}.${name}`);
  return (
    <Panel title="About">
      <Facts
        facts={[
          ['Owner', environment.owner_name],
          ['Template', template],
          ['Version', `${build.template_version_name}${environment.outdated ? ' (outdated)' : ''}`],
          ['Last used', <Ago key="used" at={environment.last_used_at} />],
          build.status === 'running' && build.deadline && ['Stops', <Until key="stops" at={build.deadline} />],
          environment.autostart_schedule && ['Starts', scheduleText(environment.autostart_schedule)],
          build.daily_cost > 0 && ['Daily cost', String(build.daily_cost)],
          ['Resources', resources.length ? resources.join(', ') : 'none'],
        ]}
      />
    </Panel>
  );
};
