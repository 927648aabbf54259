import type { VNode } from 'preact';
import { duration } from '#clients/client/text/time.ts';
import {
  type Environment,
  type Parameter,
  type Preset,
  read,
  readVersion,
  segment,
  type Template,
  useRights,
  type Version,
} from '#clients/web/environments.ts';
import { type Live, useLive } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago, type Fact, Facts, Notice } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { ConfirmButton } from '#clients/web/parts/dialog.tsx';
import { Titled } from '#clients/web/parts/head.tsx';
import { Item, List, Table, Tags } from '#clients/web/parts/list.tsx';
import { Markdown } from '#clients/web/parts/markdown.tsx';
import { Page } from '#clients/web/parts/page.tsx';
import { Panel, Section } from '#clients/web/parts/section.tsx';
import { callEnvironments } from '#clients/web/session.ts';
import { ChangeTemplate, DeleteTemplate } from './edit-template.tsx';
import { EnvironmentLine } from './environments.tsx';
import { NewEnvironment } from './new-environment.tsx';

interface ViewData {
  template: Template;
  /** Newest first. */
  versions: Version[];
  parameters: Parameter[];
  presets: Preset[];
  environments: Environment[];
}

const load = async (id: string): Promise<ViewData> => {
  const path = `/templates/${segment(id)}`;
  const [template, versions] = await Promise.all([read<Template>(path), read<Version[]>(`${path}/versions`)]);
  const query = segment(`organization:"${template.organization_name}" template:"${template.name}"`);
  const [active, { workspaces }] = await Promise.all([
    readVersion(template.active_version_id),
    read<{ workspaces: Environment[] }>(`/workspaces?q=${query}`),
  ]);
  return { template, versions: versions.reverse(), environments: workspaces, ...active };
};

/** A template with its versions, its environments, and the parameters of its active version. */
export const TemplateView = ({ organization, id }: OrganizationProps & { id: string }) => {
  const live = useLive(`template/${id}`, () => load(id), 15_000);
  const name = live.value?.template.display_name || live.value?.template.name;
  return (
    <Page
      title={name ?? 'Template'}
      organization={organization}
      crumbs={[{ text: 'Templates', to: { view: 'templates', organization } }, { text: name ?? id }]}
      live={live}
      what="template"
    >
      {(loaded) => <One {...loaded} organization={organization} live={live} />}
    </Page>
  );
};

const One = (props: ViewData & OrganizationProps & { live: Live<ViewData> }) => {
  const { template, versions, parameters, presets, environments, organization, live } = props;
  const rights = useRights(organization);
  const readme = versions.find(({ id }) => id === template.active_version_id)?.readme.replace(frontMatter, '');
  const mayCreate = rights.create && !template.deprecated;
  const createFrom = ({ ID, Name }: Preset) => (
    <DialogButton small text="Create" of={`an environment from ${Name}`}>
      {(close) => <NewEnvironment {...props} preset={ID} onClose={close} />}
    </DialogButton>
  );
  return (
    <>
      <Titled title={template.display_name || template.name} description={template.description}>
        {mayCreate && (
          <DialogButton text="Create environment" primary>
            {(close) => <NewEnvironment {...props} onClose={close} />}
          </DialogButton>
        )}
        {rights.manage && <ChangeTemplate template={template} onChange={live.refresh} />}
        {rights.manage && <DeleteTemplate template={template} organization={organization} />}
      </Titled>
      {template.deprecated && <Notice kind="warn">Deprecated: {template.deprecation_message}</Notice>}
      <div class="sides">
        <div class="stack">
          <Presets presets={presets} create={mayCreate ? createFrom : undefined} />
          <Parameters parameters={parameters} />
          {readme && (
            <Section title="README">
              <div class="panel pad">
                <Markdown text={readme} />
              </div>
            </Section>
          )}
          <Section title="Environments">
            <List label="Environments" of={environments} none="No environments of this template that you can see yet.">
              {(environment) => (
                <EnvironmentLine
                  key={environment.id}
                  environment={environment}
                  organization={organization}
                  mayManage={rights.manage}
                  onChange={live.refresh}
                />
              )}
            </List>
          </Section>
          <Versions template={template} versions={versions} mayPromote={rights.manage} onChange={live.refresh} />
        </div>
        <Policy template={template} />
      </div>
    </>
  );
};

/** YAML that Coder's registry reads. */
const frontMatter = /^---\n[\s\S]*?\n---\n/;

/** Milliseconds as a duration; undefined for none. */
const lasting = (ms: number): string | undefined => (ms > 0 ? duration(ms) : undefined);

const fact = (name: string, value: string | undefined): Fact => value && [name, value];

/** When its environments stop, and what happens to unused ones. */
const Policy = ({ template }: { template: Template }) => (
  <Panel title="Policy">
    <Facts
      facts={[
        ['Stops after', lasting(template.default_ttl_ms) ?? 'never'],
        fact('Activity extends by', lasting(template.activity_bump_ms)),
        fact('Stops failed ones after', lasting(template.failure_ttl_ms)),
        fact('Dormant after', lasting(template.time_til_dormant_ms)),
        fact('Deletes dormant ones after', lasting(template.time_til_dormant_autodelete_ms)),
        fact('Must stop on', template.autostop_requirement.days_of_week.join(', ')),
        ['Own schedules', template.allow_user_autostart && template.allow_user_autostop ? 'allowed' : 'restricted'],
        template.require_active_version && ['Version', 'the active one only'],
        ['Created by', template.created_by_name],
      ]}
    />
  </Panel>
);

const states: Record<Version['job']['status'], [text: string, tone: string]> = {
  pending: ['importing', 'running'],
  running: ['importing', 'running'],
  canceling: ['canceling', 'running'],
  canceled: ['import canceled', 'neutral'],
  failed: ['import failed', 'bad'],
  succeeded: ['ready', 'good'],
};

interface VersionsProps {
  template: Template;
  versions: Version[];
  mayPromote: boolean;
  onChange(): void;
}

const Versions = ({ template, versions, mayPromote, onChange }: VersionsProps) => (
  <Section title="Versions">
    <List label="Versions" of={versions}>
      {(version) => {
        const [text, tone] = states[version.job.status];
        const isActive = version.id === template.active_version_id;
        return (
          <Item
            key={version.id}
            title={version.name}
            tags={[isActive && 'active', version.archived && 'archived']}
            meta={
              <>
                {version.message && `${version.message} · `}
                {version.created_by.username}, <Ago at={version.created_at} />
                {version.job.error && <span class="problem"> {version.job.error}</span>}
              </>
            }
            end={<span class={`status ${tone}`}>{text}</span>}
          >
            {mayPromote && !isActive && !version.archived && version.job.status === 'succeeded' && (
              <ConfirmButton
                small
                danger={false}
                text="Promote"
                of={version.name}
                yes="Promote version"
                onYes={() => callEnvironments('PATCH', `/templates/${template.id}/versions`, { id: version.id })}
                onClose={onChange}
              >
                <p>
                  New environments of {template.name} use it. Existing ones are marked outdated, and change with their
                  next update. Prebuilds of the current version are replaced.
                </p>
              </ConfirmButton>
            )}
          </Item>
        );
      }}
    </List>
  </Section>
);

const Parameters = ({ parameters }: { parameters: Parameter[] }) => (
  <Section title="Parameters">
    {parameters.length === 0 ? (
      <p class="soft">The active version has no parameters.</p>
    ) : (
      <div class="panel scrolls">
        <Table class="stacks" heads={['Parameter', 'Type', 'Default', 'Options', 'Can be changed']}>
          {parameters.map((parameter) => (
            <tr key={parameter.name}>
              <th scope="row" class="break">
                {parameter.display_name || parameter.name}
                {parameter.description && <div class="soft small">{parameter.description}</div>}
              </th>
              <td data-label="Type">{parameter.type}</td>
              <td data-label="Default" class="mono break">
                {parameter.required ? 'required' : parameter.default_value || 'empty'}
              </td>
              <td data-label="Options" class="break">
                {parameter.options.map(({ name }) => name).join(', ') || '–'}
              </td>
              <td data-label="Can be changed">
                {parameter.ephemeral ? 'for one build' : parameter.mutable ? 'yes' : 'no'}
              </td>
            </tr>
          ))}
        </Table>
      </div>
    )}
  </Section>
);

interface PresetsProps {
  presets: Preset[];
  /** Creates an environment from the preset. */
  create: ((preset: Preset) => VNode) | undefined;
}

const Presets = ({ presets, create }: PresetsProps) =>
  presets.length > 0 && (
    <Section title="Presets">
      <div class="trends">
        {presets.map((preset) => {
          const { ID, Name, Default, Description, Parameters, DesiredPrebuildInstances: instances } = preset;
          return (
            <div key={ID} class="panel pad stack">
              <h3 class="break">
                {Name} <Tags of={[Default && 'default', instances !== null && `pool of ${instances}`]} />
              </h3>
              {Description && <p class="soft break">{Description}</p>}
              <Facts facts={Parameters.map(({ Name, Value }) => [Name, Value])} />
              {create?.(preset)}
            </div>
          );
        })}
      </div>
    </Section>
  );
