import type { Resource } from '#clients/client/client.ts';
import { useList } from '#clients/web/live.ts';
import { may } from '#clients/web/organization.ts';
import { Ago } from '#clients/web/parts/basics.tsx';
import { ActionButton, DialogButton } from '#clients/web/parts/button.tsx';
import { Item, LiveList } from '#clients/web/parts/list.tsx';
import { Person } from '#clients/web/parts/person.tsx';
import { Section } from '#clients/web/parts/section.tsx';
import { change, related } from '#clients/web/session.ts';
import { TestVariables } from '../variables/variables.tsx';
import { apiPath, type ModuleAddress, testsPath } from './module-api.ts';
import { RunTests } from './run-tests.tsx';

type TestRun = Resource<'test-runs'>;

interface Props {
  module: Resource<'registry-modules'>;
  address: ModuleAddress;
  onChange(): void;
}

/** Test runs of a module, and their environment variables. */
export const ModuleTests = ({ module, address, onChange }: Props) => {
  const enabled = module.attributes['test-config']?.['tests-enabled'] === true;
  if (!may(address.organization, 'can-create-module')) {
    return <p class="panel pad soft">Only teams that publish modules see and run their tests.</p>;
  }
  return (
    <div class="stack">
      {enabled && <TestRuns module={module} address={address} />}
      <Enabling enabled={enabled} address={address} onChange={onChange} />
      {enabled && (
        <Section title="Environment variables">
          <TestVariables path={`${testsPath(address)}/vars`} organization={address.organization} />
        </Section>
      )}
    </div>
  );
};

interface EnablingProps {
  enabled: boolean;
  address: ModuleAddress;
  onChange(): void;
}

const Enabling = ({ enabled, address, onChange }: EnablingProps) => {
  const attributes = { 'test-config': { 'tests-enabled': !enabled } };
  return (
    <section class={enabled ? 'panel pad stack tight' : 'panel empty'} aria-label="Remote tests">
      <h2>{enabled ? 'Remote tests are enabled' : 'Remote tests are not enabled'}</h2>
      <p class="soft">
        The tests in the module’s <code>.tftest.hcl</code> files run on the platform’s runners, from this page or with{' '}
        <code>terraform test -cloud-run</code>. They create real infrastructure, and destroy it at the end.
      </p>
      <div>
        <ActionButton
          text={enabled ? 'Disable remote tests' : 'Enable remote tests'}
          primary={!enabled}
          work={() => change(apiPath(address), 'registry-modules', attributes)}
          onDone={onChange}
        />
      </div>
    </section>
  );
};

const TestRuns = ({ module, address }: Omit<Props, 'onChange'>) => {
  const live = useList<'test-runs'>(`${testsPath(address)}/test-runs`, 3_000);
  return (
    <Section
      title="Test runs"
      action={
        <DialogButton text="Run tests" primary>
          {(close) => <RunTests module={module} address={address} onClose={close} />}
        </DialogButton>
      }
    >
      <LiveList
        live={live}
        what="test runs"
        none="No test runs yet. Run the tests of a published version, or of files you choose."
      >
        {(run) => {
          const { message, 'created-at': at } = run.attributes;
          return (
            <Item
              key={run.id}
              to={{ ...address, view: 'test-run', run: run.id }}
              title={message || run.id}
              meta={
                <>
                  {message && <span class="mono">{run.id}</span>} by <Person id={related(run, 'created-by')} />
                  {countsOf(run) && <> · {countsOf(run)}</>}
                </>
              }
              end={<TestStatus run={run} />}
              notes={[<Ago key="at" at={at} />]}
            />
          );
        }}
      </LiveList>
    </Section>
  );
};

const tones: Record<string, [text: string, tone: string]> = {
  queued: ['queued', 'waiting'],
  running: ['running', 'running'],
  pass: ['passed', 'good'],
  fail: ['failed', 'bad'],
  error: ['errored', 'bad'],
  skip: ['skipped', 'neutral'],
  errored: ['errored', 'bad'],
  canceled: ['canceled', 'neutral'],
};

export const TestStatus = ({ run: { attributes } }: { run: TestRun }) => {
  const { status, 'test-status': verdict } = attributes;
  const [text, tone] = tones[status === 'finished' ? verdict : status] ?? [status, 'neutral'];
  return <span class={`status ${tone}`}>{text}</span>;
};

/** `3 passed, 1 failed`; nothing before the first result. */
export const countsOf = ({ attributes }: TestRun): string =>
  (
    [
      [attributes['tests-passed'], 'passed'],
      [attributes['tests-failed'], 'failed'],
      [attributes['tests-errored'], 'errored'],
      [attributes['tests-skipped'], 'skipped'],
    ] as const
  )
    .flatMap(([n, word]) => (n > 0 ? [`${n} ${word}`] : []))
    .join(', ');
