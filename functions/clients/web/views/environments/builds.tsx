import { useSignal } from '@preact/signals';
import { type Build, isBusy } from '#clients/web/environments.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago, Duration } from '#clients/web/parts/basics.tsx';
import { ActionButton } from '#clients/web/parts/button.tsx';
import { List } from '#clients/web/parts/list.tsx';
import { Section } from '#clients/web/parts/section.tsx';
import { callEnvironments } from '#clients/web/session.ts';
import { BuildLog } from './build-log.tsx';
import { RunLink } from './run-link.tsx';

interface Props extends OrganizationProps {
  builds: Build[];
  mayCancel: boolean;
  onChange(): void;
}

/** Environments are "running"; unfinished builds are "in progress". */
const states: Record<Build['job']['status'], [text: string, tone: string]> = {
  pending: ['pending', 'running'],
  running: ['in progress', 'running'],
  canceling: ['canceling', 'running'],
  succeeded: ['succeeded', 'good'],
  failed: ['failed', 'bad'],
  canceled: ['canceled', 'neutral'],
};

const reasons: Record<string, string> = {
  initiator: '',
  dashboard: '',
  cli: '',
  autostart: 'on schedule',
  autostop: 'on schedule',
  dormancy: 'unused',
  autodelete: 'dormant',
};

/** Build history, newest first; the latest log is open. */
export const Builds = ({ builds, organization, mayCancel, onChange }: Props) => {
  const chosen = useSignal<string | undefined>(undefined);
  const open = chosen.value ?? builds[0]?.id;
  return (
    <Section title="Builds">
      <List label="Builds" of={builds}>
        {(build) => (
          <li key={build.id}>
            <Line
              build={build}
              isOpen={build.id === open}
              onOpen={() => (chosen.value = build.id === open ? '' : build.id)}
            />
            {build.id === open && (
              <Opened build={build} organization={organization} mayCancel={mayCancel} onChange={onChange} />
            )}
          </li>
        )}
      </List>
    </Section>
  );
};

const reasonOf = ({ reason, initiator_name: initiator }: Build): string =>
  [initiator, reasons[reason] ?? reason].filter(Boolean).join(', ');

const Line = ({ build, isOpen, onOpen }: { build: Build; isOpen: boolean; onOpen(): void }) => (
  <button type="button" class="item quiet" aria-expanded={isOpen} onClick={onOpen}>
    <span class="row">
      <span class="title">
        #{build.build_number} {build.transition}
      </span>
      <span class="tag">{build.template_version_name}</span>
    </span>
    <span class="meta">
      {reasonOf(build)} · <Ago at={build.created_at} />
    </span>
    <span class="end">
      <span class={`status ${states[build.job.status][1]}`}>{states[build.job.status][0]}</span>
      {build.job.started_at && (
        <span class="meta">
          <Duration from={build.job.started_at} to={build.job.completed_at ?? undefined} />
        </span>
      )}
    </span>
  </button>
);

const Opened = ({ build, organization, mayCancel, onChange }: { build: Build } & Omit<Props, 'builds'>) => (
  <div class="pad stack">
    <div class="row">
      {build.run_id && <RunLink organization={organization} run={build.run_id} />}
      {mayCancel && isBusy(build) && build.job.status !== 'canceling' && (
        <ActionButton
          small
          danger
          text="Cancel build"
          work={() => callEnvironments('PATCH', `/workspacebuilds/${build.id}/cancel`)}
          onDone={onChange}
        />
      )}
    </div>
    <BuildLog build={build} />
  </div>
);
