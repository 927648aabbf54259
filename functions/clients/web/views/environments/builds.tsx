import { useSignal } from '@preact/signals';
import { type Build, isBusy } from '#clients/web/environments.ts';
import { Ago, Duration, Notice } from '#clients/web/parts/basics.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { callEnvironments, errorText } from '#clients/web/session.ts';
import { BuildLog } from './build-log.tsx';
import { RunLink } from './run-link.tsx';

interface Props {
  builds: Build[];
  organization: string;
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
    <section class="stack" aria-label="Builds">
      <h2>Builds</h2>
      <ul class="panel list" aria-label="Builds">
        {builds.map((build) => (
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
        ))}
      </ul>
    </section>
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
          <Duration from={build.job.started_at} {...(build.job.completed_at ? { to: build.job.completed_at } : {})} />
        </span>
      )}
    </span>
  </button>
);

const Opened = ({ build, organization, mayCancel, onChange }: { build: Build } & Omit<Props, 'builds'>) => {
  const failed = useSignal<string | undefined>(undefined);
  const cancel = async () => {
    failed.value = undefined;
    try {
      await callEnvironments('PATCH', `/workspacebuilds/${build.id}/cancel`);
    } catch (error) {
      failed.value = errorText(error);
    }
    onChange();
  };
  return (
    <div class="pad stack">
      {failed.value && <Notice kind="bad">{failed.value}</Notice>}
      <div class="row">
        {build.run_id && <RunLink organization={organization} run={build.run_id} />}
        {mayCancel && isBusy(build) && build.job.status !== 'canceling' && (
          <SmallButton text="Cancel build" danger onClick={cancel} />
        )}
      </div>
      <BuildLog build={build} />
    </div>
  );
};
