import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import { hrefOf } from '#clients/web/location.ts';
import { Ago } from '#clients/web/parts/basics.tsx';
import { Person } from '#clients/web/parts/person.tsx';
import { kindOf, Status, sourceOf } from '#clients/web/parts/status.tsx';
import { related } from '#clients/web/session.ts';

/** First line and rest of a message, which may be that of a commit. */
const parts = ({ attributes }: Resource<'runs'>): [subject: string, body: string] => {
  const [subject = '', ...body] = attributes.message.split('\n');
  return [subject, body.join('\n').trim()];
};

/** First line of the run's message. */
export const subjectOf = (run: Resource<'runs'>): string => parts(run)[0];

interface RunHeadProps {
  run: Resource<'runs'>;
  organization: string;
  /** Fragment of the part that shows what failed. */
  failed: string | undefined;
  /** Actions. */
  children: ComponentChildren;
}

/** Message, origin and status of a run. */
export const RunHead = ({ run, organization, failed, children }: RunHeadProps) => {
  const kind = kindOf(run);
  const [subject, body] = parts(run);
  return (
    <div class="row spread">
      <div class="grow">
        <h1>{subject}</h1>
        {body && <p class="message break">{body}</p>}
        <p class="soft">
          <Origin run={run} organization={organization} /> <Ago at={run.attributes['created-at']} />
          {kind && (
            <>
              {' '}
              <span class="tag">{kind}</span>
            </>
          )}
        </p>
      </div>
      <div class="row">
        {children}
        <span aria-live="polite">
          <Status run={run} failed={failed} />
        </span>
      </div>
    </div>
  );
};

/** Who or what started it. */
const Origin = ({ run, organization }: { run: Resource<'runs'>; organization: string }) => {
  const workspace = run.attributes['triggering-source-name'] as string | null;
  const trigger = related(run, 'triggering-run');
  if (workspace && trigger) {
    return (
      <>
        Queued by an <a href={hrefOf({ view: 'run', organization, workspace, run: trigger })}>apply in {workspace}</a>
      </>
    );
  }
  return (
    <>
      Queued by <Person id={related(run, 'created-by')} /> from {sourceOf(run)}
    </>
  );
};
