import { useEffect } from 'preact/hooks';
import { ApiError } from '#clients/client/client.ts';
import { askForWays, depart, isReturning, tokenOf, ways } from '#clients/web/issuer.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { SmallButton } from '#clients/web/parts/button.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Text, textOf } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { Mark, Shell } from '#clients/web/parts/shell.tsx';
import { ended, signIn, signOut } from '#clients/web/session.ts';

/** Shown without a token. The URL stays, so that a link continues after sign-in. */
export const SignIn = () => (
  <Shell title="Sign in" crumbs={[]}>
    <section class="gate panel pad stack">
      <div class="row">
        <span class="brand">
          <Mark />
        </span>
        <h1>Sign in</h1>
      </div>
      <Ways />
      <details>
        <summary>Where do I get a token?</summary>
        <p class="soft small">
          On one machine, <code>npm start</code> prints a token. On AWS, the Bootstrap function returns a one-time
          secret for the first owner: paste it here. After signing in, create tokens under your user name.
        </p>
      </details>
    </section>
  </Shell>
);

/** Over a view whose session has expired, which keeps all that was typed. */
export const SignInAgain = () => (
  <Dialog title="Sign in again" onClose={() => {}}>
    <Ways apart />
    <p class="soft small">
      This page stays as it is. <SmallButton text="Sign out" onClick={signOut} /> to leave it.
    </p>
  </Dialog>
);

/** @param apart with the identity provider in a tab of its own, so that this one stays */
const Ways = ({ apart = false }: { apart?: boolean }) => {
  useEffect(() => {
    // On failure, users can still sign in with a token.
    askForWays().catch(() => {});
  }, []);
  const submit = async (data: FormData) => {
    try {
      await signIn(await tokenOf((textOf(data, 'token') ?? '').trim()));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      throw new Error('Invalid token. Check that you copied all of it and that it has not expired.');
    }
  };
  const hasWays = ways.value.length > 0;
  return (
    <>
      {ended.value && <Notice kind="warn">{ended.value}</Notice>}
      {isReturning.value && <p role="status">Signing you in …</p>}
      {ways.value.map((way) => (
        <button key={way.path} type="button" class="primary" onClick={() => depart(way, { apart })}>
          Sign in with {way.name}
        </button>
      ))}
      {hasWays && <p class="soft small">Or with an API token:</p>}
      <Form submit={hasWays ? 'Use token' : 'Sign in'} onSubmit={submit}>
        <Text
          label="API token"
          name="token"
          type="password"
          required
          autoFocus={!hasWays}
          autoComplete="current-password"
          hint="The same token that terraform uses. It is kept until you close the last tab of this page."
        />
      </Form>
    </>
  );
};
