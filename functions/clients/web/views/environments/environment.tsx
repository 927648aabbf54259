import { useSignal } from '@preact/signals';
import {
  type Build,
  type Environment,
  isBusy,
  read,
  segment,
  toneOf,
  useRights,
  type Value,
} from '#clients/web/environments.ts';
import { type Live, pollMs, useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago, type Fact, Facts, Notice } from '#clients/web/parts/basics.tsx';
import { SmallButton } from '#clients/web/parts/button.tsx';
import { Titled } from '#clients/web/parts/head.tsx';
import { Tags } from '#clients/web/parts/list.tsx';
import { Page } from '#clients/web/parts/page.tsx';
import { Panel, Section } from '#clients/web/parts/section.tsx';
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
      return isBusy(build) || build.restarts ? pollMs : restMs;
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
      {build.status === 'stopped' && build.restarts && (
        <Notice kind="info">Stopped for a restart. It starts next.</Notice>
      )}
      {environment.dormant_at && !isDeleted && <Dormant environment={environment} />}
      <div class="sides">
        <div class="stack">
          <Resources resources={build.resources} />
          <Builds builds={builds} organization={organization} mayCancel={mayChange} onChange={live.refresh} />
        </div>
        <div class="stack">
          <About environment={environment} organization={organization} />
          <Parameters key={build.id} build={build} />
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

/** Resources with their `coder_metadata`, such as the address of an instance. */
const Resources = ({ resources }: Pick<Build, 'resources'>) => {
  const shown = resources.filter(({ hide }) => !hide);
  if (shown.length === 0) return null;
  return (
    <Section title="Resources">
      <div class="trends">
        {shown.map(({ id, type, name, metadata, daily_cost: cost }) => (
          <div key={id} class="panel pad stack">
            <h3 class="break">
              {name} <span class="soft small">{type}</span>
            </h3>
            <Facts
              facts={[
                ...metadata.map(
                  ({ key, value, sensitive }): Fact => [key, sensitive ? <Hidden key={key} value={value} /> : value],
                ),
                cost > 0 && ['Daily cost', String(cost)],
              ]}
            />
          </div>
        ))}
      </div>
    </Section>
  );
};

/** A sensitive value, shown on request. */
const Hidden = ({ value }: { value: string }) => {
  const shown = useSignal(false);
  if (shown.value) return <code class="break">{value}</code>;
  return <SmallButton text="Show" onClick={() => (shown.value = true)} />;
};

/** Values of the latest build's parameters. */
const Parameters = ({ build: { id } }: { build: Build }) => {
  const path = `/workspacebuilds/${segment(id)}/parameters`;
  const { value: values = [] } = useLive(path, () => read<Value[]>(path));
  return (
    values.length > 0 && (
      <Panel title="Parameters">
        <Facts facts={values.map(({ name, value }) => [name, value || 'empty'])} />
      </Panel>
    )
  );
};

const About = ({ environment, organization }: OrganizationProps & { environment: Environment }) => {
  const { latest_build: build } = environment;
  const template = (
    <a href={hrefOf({ view: 'template', organization, id: environment.template_id })}>{environment.template_name}</a>
  );
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
        ]}
      />
    </Panel>
  );
};
