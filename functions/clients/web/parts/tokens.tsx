import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import { exactTime } from '#clients/client/text/time.ts';
import { useLive } from '../live.ts';
import { all, call, create } from '../session.ts';
import { Ago, Code, Loaded, Notice } from './basics.tsx';
import { Confirm, Dialog } from './dialog.tsx';
import { Form, Select, Text, textOf } from './form.tsx';
import { SmallButton } from './small-button.tsx';

/** Lists, creates and revokes tokens of users, teams and organizations. */

/** Labels by number of days. */
const lifetimes = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'a year'],
  ['', 'no expiration'],
] as const;

const day = 86_400_000;

/** The secret of a new token, shown only once. */
export const CreatedToken = ({ secret }: { secret: string }) => (
  <Notice kind="good">
    <div class="stack">
      <p>
        <strong>Copy this token now.</strong> It is not shown again.
      </p>
      <Code label="new token" text={secret} />
    </div>
  </Notice>
);

/** Creation, last use and expiry. */
export const TokenDates = ({ token }: { token: Resource<'authentication-tokens'> }) => {
  const { 'created-at': createdAt, 'last-used-at': used, 'expired-at': ends } = token.attributes;
  const isOver = ends && Date.parse(ends) <= Date.now();
  return (
    <>
      created <Ago at={createdAt} /> ·{' '}
      {used ? (
        <>
          last used <Ago at={used} />
        </>
      ) : (
        'never used'
      )}{' '}
      · {ends ? `${isOver ? 'expired' : 'expires'} ${exactTime(ends)}` : 'never expires'}
    </>
  );
};

interface ListProps {
  tokens: Resource<'authentication-tokens'>[];
  /** Text for an empty list. */
  none?: ComponentChildren;
  /** False without permission. */
  onRevoke: false | ((token: Resource<'authentication-tokens'>) => void);
}

export const TokenList = ({ tokens, none, onRevoke }: ListProps) =>
  tokens.length === 0 ? (
    <p class="panel pad soft">{none}</p>
  ) : (
    <ul class="panel list" aria-label="Tokens">
      {tokens.map((token) => (
        <li key={token.id} class="item">
          <span class="title">{token.attributes.description || 'no description'}</span>
          <span class="meta">
            <span class="mono">{token.id}</span> · <TokenDates token={token} />
          </span>
          {onRevoke && (
            <span class="end">
              <SmallButton
                text="Revoke"
                of={token.attributes.description || token.id}
                danger
                onClick={() => onRevoke(token)}
              />
            </span>
          )}
        </li>
      ))}
    </ul>
  );

interface NewProps {
  title: string;
  /** Path to create it at. */
  path: string;
  /** The owner can have several, with descriptions. */
  described: boolean;
  /** Explanation above the form. */
  children?: ComponentChildren;
  onClose(): void;
  onMade(secret: string): void;
}

export const NewToken = ({ title, path, described, children, onClose, onMade }: NewProps) => {
  const submit = async (data: FormData) => {
    const days = Number(data.get('days'));
    const token = await create(path, 'authentication-tokens', {
      ...(described ? { description: textOf(data, 'description') ?? '' } : {}),
      'expired-at': days ? new Date(Date.now() + days * day).toISOString() : null,
    });
    onMade(token.attributes.token);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form submit="Create token" onSubmit={submit} onCancel={onClose}>
        {children}
        {described && (
          <Text
            label="Description"
            name="description"
            required
            autoFocus
            hint="Where it is used, for example laptop or billing CI."
          />
        )}
        <Select label="Expiration" name="days" options={lifetimes} />
      </Form>
    </Dialog>
  );
};

interface RevokeProps {
  /** Description or id, for the confirmation. */
  name: string;
  path: string;
  onClose(): void;
}

export const Revoke = ({ name, path, onClose }: RevokeProps) => (
  <Confirm title={`Revoke ${name}?`} yes="Revoke" onYes={() => call('DELETE', path)} onClose={onClose}>
    <p>Programs that use it lose access immediately. If you signed in with it, you are signed out.</p>
  </Confirm>
);

interface DialogsProps {
  title: string;
  path: string;
  work: TokenWork;
  refresh(): void;
}

/** The open form for a list of tokens with descriptions. */
export const TokenDialogs = ({ title, path, work, refresh }: DialogsProps) => {
  const { adding, createdSecret, revoking } = work;
  const token = revoking.value;
  return (
    <>
      {adding.value && (
        <NewToken
          title={title}
          path={path}
          described
          onClose={() => (adding.value = false)}
          onMade={(secret) => {
            adding.value = false;
            createdSecret.value = secret;
            refresh();
          }}
        />
      )}
      {token && (
        <Revoke
          name={token.attributes.description || token.id}
          path={`/authentication-tokens/${token.id}`}
          onClose={() => {
            revoking.value = undefined;
            refresh();
          }}
        />
      )}
    </>
  );
};

interface OwnedProps {
  /** A team, or an agent pool. */
  owner: Resource;
  mayChange: boolean;
  none: ComponentChildren;
}

/** All tokens of an owner with several. */
export const TokensOf = ({ owner, mayChange, none }: OwnedProps) => {
  const path = `/${owner.type}/${owner.id}/authentication-tokens`;
  const live = useLive(
    `tokens of ${owner.id}`,
    async () => (await all<'authentication-tokens'>(path)).data,
    () => 30_000,
  );
  const work = useTokenWork();
  const { adding, createdSecret, revoking } = work;
  return (
    <section class="stack" aria-label="Tokens">
      <div class="row spread">
        <h2>Tokens</h2>
        {mayChange && <SmallButton text="New token" onClick={() => (adding.value = true)} />}
      </div>
      {createdSecret.value && <CreatedToken secret={createdSecret.value} />}
      <Loaded live={live} what="tokens">
        {(tokens) => (
          <TokenList tokens={tokens} none={none} onRevoke={mayChange && ((token) => (revoking.value = token))} />
        )}
      </Loaded>
      <TokenDialogs title={`New token of ${owner.attributes.name}`} path={path} work={work} refresh={live.refresh} />
    </section>
  );
};

/** The open form beside a list of tokens, and the secret that was just created. */
export const useTokenWork = () => ({
  adding: useSignal(false),
  createdSecret: useSignal<string | undefined>(undefined),
  revoking: useSignal<Resource | undefined>(undefined),
});

type TokenWork = ReturnType<typeof useTokenWork>;
