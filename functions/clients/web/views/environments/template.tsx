import {
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
import { Ago, Facts, Notice } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { ConfirmButton } from '#clients/web/parts/dialog.tsx';
import { Titled } from '#clients/web/parts/head.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Page } from '#clients/web/parts/page.tsx';
import { Panel, Section } from '#clients/web/parts/section.tsx';
import { callEnvironments } from '#clients/web/session.ts';
import { NewEnvironment } from './new-environment.tsx';

interface ViewData {
  template: Template;
  /** Newest first. */
  versions: Version[];
  parameters: Parameter[];
  presets: Preset[];
}

const load = async (id: string): Promise<ViewData> => {
  const path = `/templates/${segment(id)}`;
  const [template, versions] = await Promise.all([read<Template>(path), read<Version[]>(`${path}/versions`)]);
  return { template, versions: versions.reverse(), ...(await readVersion(template.active_version_id)) };
};

/** Versions of a template, and parameters of its active version. */
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
  const { template, versions, parameters, presets, organization, live } = props;
  const rights = useRights(organization);
  return (
    <>
      <Titled title={template.display_name || template.name} description={template.description}>
        {rights.create && !template.deprecated && (
          <DialogButton text="Create environment" primary>
            {(close) => <NewEnvironment {...props} onClose={close} />}
          </DialogButton>
        )}
      </Titled>
      {template.deprecated && <Notice kind="warn">Deprecated: {template.deprecation_message}</Notice>}
      <div class="sides">
        <Versions template={template} versions={versions} mayPromote={rights.manage} onChange={live.refresh} />
        <div class="stack">
          <Parameters parameters={parameters} />
          <Presets presets={presets} />
        </div>
      </div>
    </>
  );
};

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
  <Panel title="Parameters">
    {parameters.length === 0 && <p class="soft">The active version has no parameters.</p>}
    {parameters.length > 0 && (
      <Facts
        facts={parameters.map((parameter) => [
          parameter.display_name || parameter.name,
          <>
            {parameter.required ? 'required' : parameter.default_value || 'empty'}
            <span class="soft small">
              {' '}
              {parameter.type}
              {parameter.mutable ? '' : ', set at creation'}
              {parameter.ephemeral ? ', for one build' : ''}
            </span>
          </>,
        ])}
      />
    )}
  </Panel>
);

const Presets = ({ presets }: { presets: Preset[] }) =>
  presets.length > 0 && (
    <Panel title="Presets">
      <Facts
        facts={presets.map(({ Name, Default, Parameters, DesiredPrebuildInstances: instances }) => [
          `${Name}${Default ? ' (default)' : ''}`,
          <>
            {Parameters.map(({ Name, Value }) => `${Name}=${Value}`).join(', ')}
            {instances !== null && <span class="soft small"> pool of {instances}</span>}
          </>,
        ])}
      />
    </Panel>
  );
