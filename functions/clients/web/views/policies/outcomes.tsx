import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { ExternalLink, Markdown } from '#clients/web/parts/markdown.tsx';
import { all, content } from '#clients/web/session.ts';
import { safeHref } from '#clients/web/text/inline.ts';
import type { TagLevel } from '#run/task-stages.ts';

/** Outcomes of a run task, loaded on request. */

const tones: Record<TagLevel, string> = { none: '', info: 'info', warning: 'warn', error: 'bad' };
const icons: Record<TagLevel, string> = { none: '', info: 'i', warning: '!', error: '✕' };

interface Tag {
  label: string;
  value: { label: string; level: TagLevel }[];
}

/** Tags that show the severity at a glance. */
const isProminent = ({ label }: Tag): boolean => ['severity', 'status'].includes(label.toLowerCase());

export const Outcomes = ({ result }: { result: Resource<'task-results'> }) => {
  const open = useSignal(false);
  const count = result.attributes['task-result-outcomes-count'] as number;
  return (
    <details
      class="outcomes"
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>{count === 1 ? '1 outcome' : `${count} outcomes`}</summary>
      {open.value && <List result={result} count={count} />}
    </details>
  );
};

const List = ({ result, count }: { result: Resource<'task-results'>; count: number }) => {
  const live = useLive(
    `outcomes/${result.id}/${count}/${result.attributes['updated-at']}`,
    async () => (await all<'task-result-outcomes'>(`/task-results/${result.id}/outcomes`)).data,
    () => undefined,
  );
  return (
    <Loaded live={live} what="outcomes">
      {(outcomes) => (
        <ul class="stack">
          {outcomes.map((outcome) => (
            <Outcome key={outcome.id} outcome={outcome} />
          ))}
        </ul>
      )}
    </Loaded>
  );
};

const Tags = ({ tags }: { tags: Tag[] }) => (
  <>
    {tags.map(({ label, value }) =>
      value.map((tag) => (
        <span key={`${label} ${tag.label}`} class={`tag ${tones[tag.level]}`}>
          {icons[tag.level] && <span aria-hidden="true">{icons[tag.level]} </span>}
          <span class="visually-hidden">{label}: </span>
          {tag.label}
        </span>
      )),
    )}
  </>
);

const Outcome = ({ outcome }: { outcome: Resource<'task-result-outcomes'> & { links?: { body?: string } } }) => {
  const { attributes, links } = outcome;
  const tags = (attributes.tags ?? []) as Tag[];
  const href = attributes.url ? safeHref(attributes.url) : undefined;
  const others = tags.filter((tag) => !isProminent(tag));
  return (
    <li class="outcome stack">
      <div class="row">
        <Tags tags={tags.filter(isProminent)} />
        <code>{attributes['outcome-id']}</code>
        <span class="break">{attributes.description}</span>
        {href && <ExternalLink href={href}>More about {attributes['outcome-id']}</ExternalLink>}
      </div>
      {others.length > 0 && (
        <dl class="facts">
          {others.map((tag) => (
            <>
              <dt>{tag.label}</dt>
              <dd class="row">
                <Tags tags={[tag]} />
              </dd>
            </>
          ))}
        </dl>
      )}
      {links?.body && <Body id={outcome.id} name={attributes['outcome-id']} />}
    </li>
  );
};

const Body = ({ id, name }: { id: string; name: string }) => {
  const open = useSignal(false);
  return (
    <details
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>Details of {name}</summary>
      {open.value && <Text id={id} />}
    </details>
  );
};

const Text = ({ id }: { id: string }) => {
  const live = useLive(
    `outcome/${id}`,
    async () => (await content(`/task-result-outcomes/${id}/body`)).text(),
    () => undefined,
  );
  return (
    <Loaded live={live} what="text">
      {(text) => <Markdown text={text} />}
    </Loaded>
  );
};
