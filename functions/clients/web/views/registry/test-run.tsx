import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { type Live, useLive } from '#clients/web/live.ts';
import { useOrganization } from '#clients/web/organization.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { Button, useAction } from '#clients/web/parts/button.tsx';
import { Job } from '#clients/web/parts/job.tsx';
import { Log } from '#clients/web/parts/log.tsx';
import { Page } from '#clients/web/parts/page.tsx';
import { call, get } from '#clients/web/session.ts';
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
  return (
    <Job
      job={run}
      noun="test run"
      title={attributes.message || 'Test run'}
      status={<TestStatus run={run} />}
      note={countsOf(run)}
      actions={!over && <Cancel path={path} refresh={live.refresh} />}
      notices={attributes['remaining-resources'].length > 0 && <Left resources={attributes['remaining-resources']} />}
      waits={attributes.status === 'queued'}
      began={attributes['status-timestamps']['started-at']}
      label="Output"
      facts={[
        ['Test files', attributes.filters.length ? attributes.filters.join(', ') : 'all'],
        ['Test directory', attributes['test-directory']],
      ]}
      none="none"
    >
      <Log
        name="plan"
        what="tests"
        url={attributes['log-read-url']}
        run={run}
        over={over}
        failed={attributes.status === 'errored' || attributes['test-status'] === 'fail'}
        onEnd={live.refresh}
        above={() => null}
      />
    </Job>
  );
};

const Left = ({ resources }: { resources: string[] }) => (
  <Notice kind="bad">
    <strong>These resources were created and not destroyed:</strong>
    <ul>
      {resources.map((resource) => (
        <li key={resource} class="mono">
          {resource}
        </li>
      ))}
    </ul>
    <p>Destroy them by hand.</p>
  </Notice>
);

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
