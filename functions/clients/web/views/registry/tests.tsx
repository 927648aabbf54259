import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import { may } from '#clients/web/organization.ts';
import { useAction } from '#clients/web/parts/action.tsx';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { Person } from '#clients/web/parts/person.tsx';
import { all, change, related } from '#clients/web/session.ts';
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
      {enabled ? <TestRuns module={module} address={address} /> : null}
      <Enabling enabled={enabled} address={address} onChange={onChange} />
      {enabled && (
        <section class="stack" aria-label="Environment variables">
          <h2>Environment variables</h2>
          <TestVariables path={`${testsPath(address)}/vars`} organization={address.organization} />
        </section>
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
  const { failure, perform } = useAction();
  const set = async (on: boolean) => {
    const attributes = { 'test-config': { 'tests-enabled': on } };
    if (await perform(() => change(apiPath(address), 'registry-modules', attributes))) onChange();
  };
  return (
    <section class={enabled ? 'panel pad stack tight' : 'panel empty'} aria-label="Remote tests">
      <h2>{enabled ? 'Remote tests are enabled' : 'Remote tests are not enabled'}</h2>
      <p class="soft">
        The tests in the module’s <code>.tftest.hcl</code> files run on the platform’s runners, from this page or with{' '}
        <code>terraform test -cloud-run</code>. They create real infrastructure, and destroy it at the end.
      </p>
      <div>
        <button type="button" class={enabled ? undefined : 'primary'} onClick={() => set(!enabled)}>
          {enabled ? 'Disable remote tests' : 'Enable remote tests'}
        </button>
      </div>
      {failure}
    </section>
  );
};

const everyMs = 3_000;

const TestRuns = ({ module, address }: Omit<Props, 'onChange'>) => {
  const path = `${testsPath(address)}/test-runs`;
  const running = useSignal(false);
  const live = useLive(
    path,
    async () => (await all<'test-runs'>(path)).data,
    () => everyMs,
  );
  return (
    <section class="stack" aria-label="Test runs">
      <div class="row spread">
        <h2>Test runs</h2>
        <button type="button" class="primary" onClick={() => (running.value = true)}>
          Run tests
        </button>
      </div>
      <Loaded live={live} what="test runs">
        {(runs) =>
          runs.length === 0 ? (
            <p class="panel pad soft">
              No test runs yet. Run the tests of a published version, or of files you choose.
            </p>
          ) : (
            <ul class="panel list" aria-label="Test runs">
              {runs.map((run) => (
                <Line key={run.id} run={run} address={address} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {running.value && <RunTests module={module} address={address} onClose={() => (running.value = false)} />}
    </section>
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

const Line = ({ run, address }: { run: TestRun; address: ModuleAddress }) => {
  const { attributes, id } = run;
  return (
    <li>
      <a class="item" href={hrefOf({ ...address, view: 'test-run', run: id })}>
        <span class="title">{attributes.message || id}</span>
        <span class="meta">
          {attributes.message && <span class="mono">{id}</span>} by <Person id={related(run, 'created-by')} />
          {countsOf(run) && <> · {countsOf(run)}</>}
        </span>
        <span class="end">
          <TestStatus run={run} />
          <span class="meta">
            <Ago at={attributes['created-at']} />
          </span>
        </span>
      </a>
    </li>
  );
};
