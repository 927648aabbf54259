import { useSignal } from '@preact/signals';
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
import { Ago, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Confirm } from '#clients/web/parts/dialog.tsx';
import { Shell } from '#clients/web/parts/shell.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
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
export const TemplateView = ({ organization, id }: { organization: string; id: string }) => {
  const live = useLive(
    `template/${id}`,
    () => load(id),
    () => 15_000,
  );
  const name = live.value?.template.display_name || live.value?.template.name;
  return (
    <Shell
      title={name ?? 'Template'}
      crumbs={[
        { text: organization, to: { view: 'workspaces', organization } },
        { text: 'Templates', to: { view: 'templates', organization } },
        { text: name ?? id },
      ]}
    >
      <Loaded live={live} what="template">
        {(loaded) => <One {...loaded} organization={organization} live={live} />}
      </Loaded>
    </Shell>
  );
};

const One = (props: ViewData & { organization: string; live: Live<ViewData> }) => {
  const { template, versions, parameters, presets, organization, live } = props;
  const rights = useRights(organization);
  const creating = useSignal(false);
  return (
    <>
      <div class="row spread">
        <div class="grow">
          <h1>{template.display_name || template.name}</h1>
          {template.description && <p class="soft break">{template.description}</p>}
        </div>
        {rights.create && !template.deprecated && (
          <button type="button" class="primary" onClick={() => (creating.value = true)}>
            Create environment
          </button>
        )}
      </div>
      {template.deprecated && <Notice kind="warn">Deprecated: {template.deprecation_message}</Notice>}
      <div class="sides">
        <Versions template={template} versions={versions} mayPromote={rights.manage} onChange={live.refresh} />
        <div class="stack">
          <Parameters parameters={parameters} />
          <Presets presets={presets} />
        </div>
      </div>
      {creating.value && (
        <NewEnvironment
          organization={organization}
          template={template}
          parameters={parameters}
          presets={presets}
          onClose={() => (creating.value = false)}
        />
      )}
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

const Versions = ({ template, versions, mayPromote, onChange }: VersionsProps) => {
  const promoting = useSignal<Version | undefined>(undefined);
  return (
    <section class="stack" aria-label="Versions">
      <h2>Versions</h2>
      <ul class="panel list" aria-label="Versions">
        {versions.map((version) => {
          const [text, tone] = states[version.job.status];
          const isActive = version.id === template.active_version_id;
          return (
            <li key={version.id} class="item">
              <span class="row">
                <span class="title">{version.name}</span>
                {isActive && <span class="tag">active</span>}
                {version.archived && <span class="tag">archived</span>}
              </span>
              <span class="meta break">
                {version.message && `${version.message} · `}
                {version.created_by.username}, <Ago at={version.created_at} />
                {version.job.error && <span class="problem"> {version.job.error}</span>}
              </span>
              <span class="end">
                <span class={`status ${tone}`}>{text}</span>
                {mayPromote && !isActive && !version.archived && version.job.status === 'succeeded' && (
                  <SmallButton text="Promote" of={version.name} onClick={() => (promoting.value = version)} />
                )}
              </span>
            </li>
          );
        })}
      </ul>
      {promoting.value && (
        <Confirm
          title={`Promote ${promoting.value.name}?`}
          yes="Promote version"
          onYes={async () => {
            await callEnvironments('PATCH', `/templates/${template.id}/versions`, { id: promoting.value?.id });
            onChange();
          }}
          onClose={() => (promoting.value = undefined)}
        >
          <p>
            New environments of {template.name} use it. Existing ones are marked outdated, and change with their next
            update. Prebuilds of the current version are replaced.
          </p>
        </Confirm>
      )}
    </section>
  );
};

const Parameters = ({ parameters }: { parameters: Parameter[] }) => (
  <section class="panel pad stack" aria-label="Parameters">
    <h2>Parameters</h2>
    {parameters.length === 0 && <p class="soft">The active version has no parameters.</p>}
    {parameters.length > 0 && (
      <dl class="facts">
        {parameters.map((parameter) => (
          <>
            <dt>{parameter.display_name || parameter.name}</dt>
            <dd>
              {parameter.required ? 'required' : parameter.default_value || 'empty'}
              <span class="soft small">
                {' '}
                {parameter.type}
                {parameter.mutable ? '' : ', set at creation'}
                {parameter.ephemeral ? ', for one build' : ''}
              </span>
            </dd>
          </>
        ))}
      </dl>
    )}
  </section>
);

const Presets = ({ presets }: { presets: Preset[] }) =>
  presets.length === 0 ? null : (
    <section class="panel pad stack" aria-label="Presets">
      <h2>Presets</h2>
      <dl class="facts">
        {presets.map((preset) => (
          <>
            <dt>
              {preset.Name}
              {preset.Default && ' (default)'}
            </dt>
            <dd>
              {preset.Parameters.map(({ Name, Value }) => `${Name}=${Value}`).join(', ')}
              {preset.DesiredPrebuildInstances !== null && (
                <span class="soft small"> pool of {preset.DesiredPrebuildInstances}</span>
              )}
            </dd>
          </>
        ))}
      </dl>
    </section>
  );
