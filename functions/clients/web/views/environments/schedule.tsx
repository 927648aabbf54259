import { useSignal } from '@preact/signals';
import type { Environment } from '#clients/web/environments.ts';
import { Facts } from '#clients/web/parts/basics.tsx';
import { ActionButton, DialogButton } from '#clients/web/parts/button.tsx';
import { FormDialog } from '#clients/web/parts/dialog.tsx';
import { Choices, Field, Select, Text, textOf } from '#clients/web/parts/fields.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { callEnvironments } from '#clients/web/session.ts';
import {
  cronOf,
  dayNames,
  hoursIn,
  hoursText,
  scheduleText,
  weeklyStart,
} from '#clients/web/text/environment-schedule.ts';
import { Until } from './until.tsx';

interface Props {
  environment: Environment;
  onChange(): void;
}

const hour = 3_600_000;

/** Automatic start and stop. */
export const Schedule = ({ environment, onChange }: Props) => {
  const { autostart_schedule: start, next_start_at: next, ttl_ms: ttl, latest_build: build } = environment;
  const deadline = build.status === 'running' ? build.deadline : null;
  const extend = () => {
    const from = Math.max(Date.parse(deadline ?? ''), Date.now());
    return callEnvironments('PUT', `/workspaces/${environment.id}/extend`, {
      deadline: new Date(from + hour).toISOString(),
    });
  };
  return (
    <Panel title="Schedule">
      <Facts
        facts={[
          ['Starts', start ? scheduleText(start) : 'manually'],
          next && ['Next start', <Until key="next" at={next} />],
          ['Stops', ttl ? `${hoursText(ttl)} after start` : 'manually'],
          deadline && ['Next stop', <Until key="stop" at={deadline} />],
          ['Updates', environment.automatic_updates === 'always' ? 'with every start' : 'manually'],
        ]}
      />
      <div class="row">
        <DialogButton small text="Change schedule" onClose={onChange}>
          {(close) => <EditSchedule environment={environment} onClose={close} />}
        </DialogButton>
        {deadline && <ActionButton small text="Run an hour longer" work={extend} onDone={onChange} />}
      </div>
    </Panel>
  );
};

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const ttlIn = (data: FormData): number | null => {
  const text = textOf(data, 'ttl');
  if (text === undefined) return null;
  const ms = hoursIn(text);
  if (!ms) throw new Error('Stop after: write hours and minutes, e.g. 8h or 8h30m.');
  return ms;
};

const startIn = (data: FormData): string | undefined => {
  if (data.has('cron')) return textOf(data, 'cron');
  if (data.get('start') !== 'weekly') return undefined;
  const days = data.getAll('day').map(Number);
  if (days.length === 0) throw new Error('Choose at least one day.');
  return cronOf({ time: String(data.get('time')), days, zone: textOf(data, 'zone') ?? 'UTC' });
};

/** Sends changed settings only: each has its own endpoint, and others may edit them at the same time. */
const save = async (environment: Environment, data: FormData): Promise<void> => {
  const path = `/workspaces/${environment.id}`;
  const [schedule, ttl, updates] = [startIn(data), ttlIn(data), data.get('updates')];
  if ((schedule ?? null) !== environment.autostart_schedule) {
    await callEnvironments('PUT', `${path}/autostart`, schedule ? { schedule } : {});
  }
  if (ttl !== environment.ttl_ms) await callEnvironments('PUT', `${path}/ttl`, { ttl_ms: ttl });
  if (updates !== environment.automatic_updates) {
    await callEnvironments('PUT', `${path}/autoupdates`, { automatic_updates: updates });
  }
};

const EditSchedule = ({ environment: initial, onClose }: { environment: Environment; onClose(): void }) => {
  const environment = useSignal(initial).value;
  const { autostart_schedule: schedule, ttl_ms: ttl } = environment;
  const weekly = schedule ? weeklyStart(schedule) : { time: '09:00', days: [1, 2, 3, 4, 5], zone: ownZone() };
  const start = useSignal(schedule ? 'weekly' : 'never');
  return (
    <FormDialog
      title={`Schedule of ${environment.name}`}
      submit="Save schedule"
      onSubmit={(data) => save(environment, data)}
      onClose={onClose}
    >
      {weekly ? (
        <>
          <Select
            label="Start"
            name="start"
            chosen={start}
            options={[
              ['never', 'manually'],
              ['weekly', 'on days of the week'],
            ]}
          />
          {start.value === 'weekly' && (
            <>
              <Field label="Time" name="time">
                {(attributes) => <input {...attributes} type="time" name="time" required defaultValue={weekly.time} />}
              </Field>
              <Choices
                legend="Days"
                name="day"
                options={dayNames.map((name, day) => [String(day), name] as const)}
                chosen={weekly.days.map(String)}
              />
              <Text label="Time zone" name="zone" required value={weekly.zone} hint="E.g. Europe/Dublin." />
            </>
          )}
        </>
      ) : (
        <Text
          label="Start"
          name="cron"
          value={schedule ?? ''}
          hint="CRON_TZ=<zone> <minutes> <hours> * * <days>. Leave it empty to start manually."
        />
      )}
      <Text
        label="Stop after"
        name="ttl"
        value={ttl ? hoursText(ttl) : ''}
        hint="Hours and minutes after each start, e.g. 8h30m. Leave it empty to stop manually. Takes effect at the next start."
      />
      <Select
        label="Updates"
        name="updates"
        value={environment.automatic_updates}
        options={[
          ['never', 'manually'],
          ['always', 'with every start'],
        ]}
      />
    </FormDialog>
  );
};
