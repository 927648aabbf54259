import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { exactTime } from '#clients/client/text/time.ts';
import { Select, Text, Time, textOf, timeOf } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { change } from '#clients/web/session.ts';

/** Automatic destruction of a workspace's resources. */

type Mode = 'project' | 'duration' | 'time' | 'never';

const modeOf = ({ attributes }: Resource<'workspaces'>): Mode => {
  if (attributes['inherits-project-auto-destroy']) return 'project';
  if (attributes['auto-destroy-activity-duration']) return 'duration';
  return attributes['auto-destroy-at'] ? 'time' : 'never';
};

const settingsOf = (mode: Mode, data: FormData) => {
  if (mode === 'project') return { 'inherits-project-auto-destroy': true };
  if (mode === 'duration') return { 'auto-destroy-activity-duration': textOf(data, 'auto-destroy-activity-duration') };
  if (mode === 'time') return { 'auto-destroy-at': timeOf(data, 'auto-destroy-at') };
  return { 'inherits-project-auto-destroy': false, 'auto-destroy-at': null, 'auto-destroy-activity-duration': null };
};

/** Display text; undefined when nothing is scheduled. */
export const autoDestroyText = ({ attributes }: Resource<'workspaces'>): string | undefined => {
  const { 'auto-destroy-at': at, 'auto-destroy-status': status } = attributes;
  if (status === 'queued') return 'destroy run started';
  if (status === 'errored') return 'last attempt failed';
  return at && status ? exactTime(at) : undefined;
};

export const AutoDestroy = ({ workspace, onChange }: { workspace: Resource<'workspaces'>; onChange(): void }) => {
  const mode = useSignal<Mode>(modeOf(workspace));
  const submit = async (data: FormData) => {
    await change(`/workspaces/${workspace.id}`, 'workspaces', settingsOf(mode.value, data));
    onChange();
  };
  const scheduled = autoDestroyText(workspace);
  return (
    <Panel title="Automatic destruction">
      <p class="soft">
        A destroy run is applied without confirmation; the workspace stays. {scheduled && `Currently: ${scheduled}.`}
      </p>
      <Form submit="Save schedule" values={workspace.attributes} onSubmit={submit}>
        <Select
          label="Destroy resources"
          name="auto-destroy"
          options={[
            ['project', 'as set in the project'],
            ['duration', 'after inactivity'],
            ['time', 'at a time'],
            ['never', 'never'],
          ]}
          chosen={mode}
        />
        {mode.value === 'duration' && (
          <Text
            label="Inactivity"
            name="auto-destroy-activity-duration"
            required
            hint="Time since the last change of its state: 12h, 14d."
          />
        )}
        {mode.value === 'time' && <Time label="Time" name="auto-destroy-at" required />}
      </Form>
    </Panel>
  );
};
