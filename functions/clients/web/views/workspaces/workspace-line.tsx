import type { Signal } from '@preact/signals';
import { problemsOf } from '#clients/client/text/health.ts';
import { count } from '#clients/client/text/time.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago } from '#clients/web/parts/basics.tsx';
import { Tags } from '#clients/web/parts/list.tsx';
import { Person } from '#clients/web/parts/person.tsx';
import { FailureReason, failedIn, Status, since } from '#clients/web/parts/status.tsx';
import { related } from '#clients/web/session.ts';
import { textOfTag } from '#clients/web/text/tags.ts';
import type { Row } from '#clients/web/text/workspace-rows.ts';

interface Props extends OrganizationProps, Pick<Row, 'workspace' | 'run' | 'health'> {
  project: string | undefined;
  chosen: Signal<ReadonlySet<string>> | undefined;
}

/** The others are on the workspace's own page. */
const mostTags = 3;

/** A workspace in a list, with its project and current run. */
export const WorkspaceLine = ({ workspace, run, health, organization, project, chosen }: Props) => {
  const { name, locked, tags, 'resource-count': resources, 'managed-by': owner } = workspace.attributes;
  const held = locked && related(workspace, 'locked-by')?.startsWith('user-');
  return (
    <li class={chosen && 'selectable'}>
      {chosen && (
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          checked={chosen.value.has(workspace.id)}
          onChange={() => {
            const next = new Set(chosen.value);
            if (!next.delete(workspace.id)) next.add(workspace.id);
            chosen.value = next;
          }}
        />
      )}
      <div class="item columned whole">
        <span class="row">
          <a
            class="title"
            title={name}
            href={hrefOf({ view: 'workspace', organization, workspace: name, tab: 'overview' })}
          >
            {name}
          </a>
          <Tags of={[held && 'locked', owner]} />
          {problemsOf(health, run).map(({ text }) => (
            <span key={text} class="tag warn">
              {text}
            </span>
          ))}
          {tags.slice(0, mostTags).map((tag) => (
            <span key={tag.key} class="tag only-wide" title={textOfTag(tag)}>
              {textOfTag(tag)}
            </span>
          ))}
          {tags.length > mostTags && (
            <span class="meta only-wide" title={tags.slice(mostTags).map(textOfTag).join(', ')}>
              +{tags.length - mostTags}
            </span>
          )}
        </span>
        <span class="meta one-line">
          {count(resources, 'resource')}
          {run && (
            <>
              {' · '}
              {run.attributes.status === 'errored' && run.attributes['end-reason'] ? (
                <FailureReason run={run} />
              ) : (
                <span title={run.attributes.message}>{run.attributes.message}</span>
              )}
            </>
          )}
        </span>
        <span class="columns">
          <span class="meta one-line" title={project}>
            {project && (
              <>
                <span class="visually-hidden">in project </span>
                {project}
              </>
            )}
          </span>
          <span class="meta break">
            {run && (
              <>
                <span class="visually-hidden">by </span>
                <Person id={related(run, 'created-by')} />
              </>
            )}
          </span>
        </span>
        {run ? (
          <a class="end" href={hrefOf({ view: 'run', organization, workspace: name, run: run.id }) + failedIn(run)}>
            <Status run={run} />
            <span class="meta">
              <Ago at={since(run)} />
            </span>
          </a>
        ) : (
          <span class="end">
            <span class="status">No runs yet</span>
          </span>
        )}
      </div>
    </li>
  );
};
