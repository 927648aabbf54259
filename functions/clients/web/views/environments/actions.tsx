import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
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
import { Confirm, Dialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Form } from '#clients/web/parts/form.tsx';
import { callEnvironments } from '#clients/web/session.ts';
import { ParameterFields, valuesIn } from './parameters.tsx';

interface Props {
  environment: Environment;
  organization: string;
  mayOrphan: boolean;
  onChange(): void;
}

type Action = 'start' | 'stop' | 'restart' | 'update' | 'delete';

const names: Record<Action, string> = {
  start: 'Start',
  stop: 'Stop',
  restart: 'Restart',
  update: 'Update',
  delete: 'Delete',
};

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

export const Actions = (props: Props) => {
  const asking = useSignal<Action | undefined>(undefined);
  const close = () => {
    asking.value = undefined;
    props.onChange();
  };
  const action = asking.value;
  return (
    <div class="row">
      {actionsOf(props.environment).map((action) => (
        <button
          key={action}
          type="button"
          class={action === 'delete' ? 'danger' : action === 'start' ? 'primary' : ''}
          onClick={() => (asking.value = action)}
        >
          {names[action]}
        </button>
      ))}
      {action === 'stop' && <Stop {...props} onClose={close} />}
      {action === 'delete' && <Delete {...props} onClose={close} />}
      {(action === 'start' || action === 'restart' || action === 'update') && (
        <Start {...props} action={action} onClose={close} />
      )}
    </div>
  );
};

const post = ({ id }: Environment, body: { transition: Build['transition'] } & Record<string, unknown>) =>
  callEnvironments<Build>('POST', `/workspaces/${id}/builds`, body);

type DialogProps = Props & { onClose(): void };

const Stop = ({ environment, onClose }: DialogProps) => (
  <Confirm
    title={`Stop ${environment.name}?`}
    yes="Stop environment"
    onYes={() => post(environment, { transition: 'stop' })}
    onClose={onClose}
  >
    <p>Resources that exist only while it is started are destroyed. All others are kept.</p>
  </Confirm>
);

const Delete = ({ environment, mayOrphan, onClose }: DialogProps) => (
  <Confirm
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
  </Confirm>
);

const consequences: Record<'start' | 'restart' | 'update', string> = {
  start: 'Starts with these parameters.',
  restart: 'Stops, then starts. Keep this tab open until it has stopped, because this page then starts it again.',
  update: 'Starts with the active version of the template.',
};

const pauseMs = 1_000;

/** Stops the environment and waits. @throws {Error} with a message for the user, when it did not stop */
const stopFirst = async (environment: Environment): Promise<void> => {
  const { id, build_number: n } = await post(environment, { transition: 'stop' });
  for (;;) {
    const { job } = await read<Build>(`/workspacebuilds/${id}`);
    if (job.status === 'succeeded') return;
    if (job.completed_at)
      throw new Error(`Not started, because build ${n} did not stop it: ${job.error || job.status}.`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
};

interface StartData {
  parameters: Parameter[];
  values: Value[];
}

const isUp = ({ latest_build: build }: Environment): boolean =>
  build.transition === 'start' && build.job.status === 'succeeded';

const Start = (props: DialogProps & { action: 'start' | 'restart' | 'update' }) => {
  const { environment, action, onClose } = props;
  const { latest_build: latest, template_active_version_id: active } = environment;
  const isBound = environment.template_require_active_version || environment.automatic_updates === 'always';
  const versionId = action === 'update' || isBound ? active : latest.template_version_id;
  const live = useLive(
    `parameters of ${latest.id} with ${versionId}`,
    async (): Promise<StartData> => {
      const [{ parameters }, values] = await Promise.all([
        readVersion(versionId),
        read<Value[]>(`/workspacebuilds/${latest.id}/parameters`),
      ]);
      return { parameters, values };
    },
    () => undefined,
  );
  const stops = action !== 'start' && isUp(environment);
  const submit = async (data: FormData) => {
    if (stops) await stopFirst(environment);
    const parameterValues = valuesIn(data);
    await post(environment, {
      transition: 'start',
      template_version_id: versionId,
      rich_parameter_values: parameterValues,
      reason: 'dashboard',
    });
    onClose();
  };
  const text: ComponentChildren =
    action === 'update' && stops
      ? `Stops, then starts with the active version of the template. Keep this tab open until it has stopped.`
      : consequences[action];
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
