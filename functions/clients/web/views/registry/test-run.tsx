import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { type Live, useLive } from '#clients/web/live.ts';
import { useOrganization } from '#clients/web/organization.ts';
import { Ago, Duration, Facts, Notice } from '#clients/web/parts/basics.tsx';
import { Button, useAction } from '#clients/web/parts/button.tsx';
import { Titled } from '#clients/web/parts/head.tsx';
import { Log } from '#clients/web/parts/log.tsx';
import { Page } from '#clients/web/parts/page.tsx';
import { Person } from '#clients/web/parts/person.tsx';
import { call, get, related } from '#clients/web/session.ts';
import { type ModuleAddress, testsPath } from './module-api.ts';
import { countsOf, TestStatus } from './tests.tsx';

type TestRun = Resource<'test-runs'>;

const isOver = ({ attributes: { status } }: TestRun): boolean => status !== 'queued' && status !== 'running';

/** One test run of a module, with its output. */
export const TestRunView = ({ run: id, ...address }: ModuleAddress & { run: string }) => {
  const { organization, name } = address;
  useOrganization(organization);
  const path = `${testsPath(address)}/test-runs/${encodeURIComponent(id)}`;
  const live = useLive(
    path,
    () => get<'test-runs'>(path),
    (run) => (isOver(run) ? undefined : 1_000),
  );
  return (
    <Page
      title={`Tests of ${name}`}
      organization={organization}
      crumbs={[
        { text: 'Modules', to: { view: 'modules', organization } },
        { text: name, to: { ...address, view: 'module', tab: 'test-runs' } },
        { text: id },
      ]}
      live={live}
      what="test run"
    >
      {(run) => <TestRun run={run} live={live} path={path} />}
    </Page>
  );
};

interface Props {
  run: TestRun;
  live: Live<TestRun>;
  path: string;
}

const TestRun = ({ run, live, path }: Props) => {
  const { attributes } = run;
  const over = isOver(run);
  const left = attributes['remaining-resources'];
  return (
    <>
      <Titled
        title={attributes.message || 'Test run'}
        beside={<TestStatus run={run} />}
        description={
          <>
            <span class="mono">{run.id}</span> by <Person id={related(run, 'created-by')} />,{' '}
            <Ago at={attributes['created-at']} />
            {countsOf(run) && <> · {countsOf(run)}</>}
          </>
        }
      >
        {!over && <Cancel path={path} refresh={live.refresh} />}
      </Titled>
      {attributes['end-reason'] && <Notice kind="bad">{attributes['end-reason']}</Notice>}
      {left.length > 0 && (
        <Notice kind="bad">
          <strong>These resources were created and not destroyed:</strong>
          <ul>
            {left.map((resource) => (
              <li key={resource} class="mono">
                {resource}
              </li>
            ))}
          </ul>
          <p>Destroy them by hand.</p>
        </Notice>
      )}
      <div class="sides">
        <section class="panel" aria-label="Output">
          {attributes.status === 'queued' ? (
            <p class="pad soft">Waiting for a runner …</p>
          ) : (
            <Log
              name="plan"
              what="tests"
              url={attributes['log-read-url']}
              run={run}
              over={over}
              onEnd={live.refresh}
              above={() => null}
            />
          )}
        </section>
        <About run={run} />
      </div>
    </>
  );
};

const About = ({ run: { attributes } }: { run: TestRun }) => {
  const at = attributes['status-timestamps'];
  const ended = at['finished-at'] ?? at['errored-at'] ?? at['canceled-at'] ?? at['force-canceled-at'];
  const began = at['started-at'];
  return (
    <aside class="panel pad" aria-label="About this test run">
      <Facts
        facts={[
          ['Duration', began ? <Duration key="took" from={began} to={ended} /> : 'not started'],
          ['Test files', attributes.filters.length ? attributes.filters.join(', ') : 'all'],
          ['Test directory', attributes['test-directory']],
          [
            'Variables',
            attributes.variables.length
              ? attributes.variables.map(({ key, value }) => (
                  <code key={key} class="entry">
                    {key} = {value}
                  </code>
                ))
              : 'none',
          ],
        ]}
      />
    </aside>
  );
};

const Cancel = ({ path, refresh }: { path: string; refresh(): void }) => {
  const { failure, perform } = useAction();
  const canceled = useSignal(false);
  const cancel = async () => {
    if (await perform(() => call('POST', `${path}/${canceled.value ? 'force-cancel' : 'cancel'}`)))
      canceled.value = true;
    refresh();
  };
  return (
    <>
      {canceled.value && <span class="soft">Terraform destroys what the tests created.</span>}
      <Button text={canceled.value ? 'Stop at once' : 'Cancel'} danger onClick={cancel} />
      {failure}
    </>
  );
};
