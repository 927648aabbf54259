import { useSignal } from '@preact/signals';
import {
  type Build,
  type Environment,
  isBusy,
  type Parameter,
  read,
  readVersion,
  type Value,
} from '#clients/web/environments.ts';
import { useLive } from '#clients/web/live.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Button } from '#clients/web/parts/button.tsx';
import { ConfirmButton, Dialog } from '#clients/web/parts/dialog.tsx';
import { Choice } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { callEnvironments } from '#clients/web/session.ts';
import { ParameterFields, valuesIn } from './parameters.tsx';

interface Props {
  environment: Environment;
  mayOrphan: boolean;
  /** In a list: only to start and stop. */
  short?: boolean;
  onChange(): void;
}

type StartAction = 'start' | 'restart' | 'update';
type Action = StartAction | 'stop' | 'delete';

const names = { start: 'Start', restart: 'Restart', update: 'Update' };

/** Actions for the current status; none while a build is in progress. */
const actionsOf = ({ latest_build: build, outdated }: Environment): Action[] => {
  if (isBusy(build)) return [];
  const up = build.transition === 'start' && build.job.status === 'succeeded';
  const half = build.transition === 'start' && !up;
  return [
    ...(up ? (['stop', 'restart'] as const) : (['start'] as const)),
    ...(half ? (['stop'] as const) : []),
    ...(outdated ? (['update'] as const) : []),
    'delete',
  ];
};

export const Actions = ({ environment, mayOrphan, short = false, onChange }: Props) => {
  const look = short ? { small: true, of: environment.name } : {};
  const starting = useSignal<StartAction | undefined>(undefined);
  const close = () => {
    starting.value = undefined;
    onChange();
  };
  const button = (action: Action) => {
    if (action === 'stop') return <Stop key={action} {...look} environment={environment} onClose={onChange} />;
    if (action !== 'delete') {
      const open = () => (starting.value = action);
      return (
        <Button key={action} {...look} text={names[action]} primary={action === 'start' && !short} onClick={open} />
      );
    }
    return <Delete key={action} environment={environment} mayOrphan={mayOrphan} onClose={onChange} />;
  };
  return (
    <>
      {actionsOf(environment)
        .filter((action) => !short || action === 'start' || action === 'stop')
        .map(button)}
      {starting.value && <Start environment={environment} action={starting.value} onClose={close} />}
    </>
  );
};

interface ActionProps {
  environment: Environment;
  onClose(): void;
}

const Stop = ({ environment, onClose, ...look }: ActionProps & { small?: boolean; of?: string }) => (
  <ConfirmButton
    {...look}
    text="Stop"
    title={`Stop ${environment.name}?`}
    danger={false}
    yes="Stop environment"
    onYes={() => post(environment, { transition: 'stop' })}
    onClose={onClose}
  >
    <p>Resources that exist only while it is started are destroyed. All others are kept.</p>
  </ConfirmButton>
);

const Delete = ({ environment, mayOrphan, onClose }: ActionProps & { mayOrphan: boolean }) => (
  <ConfirmButton
    text="Delete"
    title={`Delete ${environment.name}?`}
    yes="Delete environment"
    typed={environment.name}
    onYes={(data) => post(environment, { transition: 'delete', ...(data.has('orphan') ? { orphan: true } : {}) })}
    onClose={onClose}
  >
    <p>Its resources are destroyed. This cannot be undone.</p>
    {mayOrphan && (
      <Choice
        name="orphan"
        label="Keep its resources"
        hint="Terraform does not run, and no longer manages the resources."
      />
    )}
  </ConfirmButton>
);

const post = ({ id }: Environment, body: { transition: Build['transition'] } & Record<string, unknown>) =>
  callEnvironments<Build>('POST', `/workspaces/${id}/builds`, body);

const consequences: Record<StartAction, string> = {
  start: 'Starts with these parameters.',
  restart: 'Stops, then starts again.',
  update: 'Starts with the active version of the template.',
};

interface StartData {
  parameters: Parameter[];
  values: Value[];
}

const isUp = ({ latest_build: build }: Environment): boolean =>
  build.transition === 'start' && build.job.status === 'succeeded';

const Start = ({ environment, action, onClose }: ActionProps & { action: StartAction }) => {
  const { latest_build: latest, template_active_version_id: active } = environment;
  const isBound = environment.template_require_active_version || environment.automatic_updates === 'always';
  const versionId = action === 'update' || isBound ? active : latest.template_version_id;
  const live = useLive(`parameters of ${latest.id} with ${versionId}`, async (): Promise<StartData> => {
    const [{ parameters }, values] = await Promise.all([
      readVersion(versionId),
      read<Value[]>(`/workspacebuilds/${latest.id}/parameters`),
    ]);
    return { parameters, values };
  });
  const stops = action !== 'start' && isUp(environment);
  const submit = async (data: FormData) => {
    const start = { template_version_id: versionId, rich_parameter_values: valuesIn(data), reason: 'dashboard' };
    await post(environment, stops ? { transition: 'stop', restart: start } : { transition: 'start', ...start });
    onClose();
  };
  const text =
    action === 'update' && stops ? 'Stops, then starts with the active version of the template.' : consequences[action];
  return (
    <Dialog title={`${names[action]} ${environment.name}`} onClose={onClose}>
      <Loaded live={live} what="parameters">
        {({ parameters, values }) => (
          <Form submit={`${names[action]} environment`} onSubmit={submit} onCancel={onClose}>
            <p>{text}</p>
            <ParameterFields parameters={parameters} values={values} />
          </Form>
        )}
      </Loaded>
    </Dialog>
  );
};
