import { createCipheriv, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import {
  algorithms,
  assertionXml,
  configureSaml,
  entityId,
  goodResponse,
  newKeys,
  responseXml,
  SamlBrowser,
  setUp,
  signed,
  type Told,
  type Wrapped,
} from './support.ts';

/** Forged, altered, foreign and repeated SAML responses: the attacks on service providers that are known by name. */

const api = await startApi();
const idp = await newKeys();
const attacker = await newKeys();
const own = await newKeys();

const standard = {
  enabled: true,
  'idp-cert': idp.certificate,
  'idp-entity-id': entityId,
  'sso-endpoint-url': 'https://idp.example.test/sso',
  'want-assertions-signed': false,
  certificate: own.certificate,
  'private-key': own.key,
};

beforeAll(async () => {
  configureSaml();
  expect((await setUp(api, standard)).status).toBe(200);
});

/** Begins in a browser and comes back with this text. */
const come = async (write: (requestId: string) => string) => {
  const browser = new SamlBrowser();
  const { id } = await browser.depart();
  const { status, location, text } = await browser.post(write(id));
  return { status, location: location.replace(/code=.*/, 'code'), text };
};

const letIn = { status: 303, location: '../../app#code' };
const turnedAway = (words: string) => ({ status: 502, location: '', text: expect.stringContaining(words) });

it('a right response signs in, by the signature of the assertion, of the response, or of both', async () => {
  expect(await come((requestId) => goodResponse({ requestId }, idp))).toMatchObject(letIn);
  const bySigned = (requestId: string, inner: string) => signed(responseXml(inner, { requestId, id: '_r' }), '_r', idp);
  expect(await come((requestId) => bySigned(requestId, assertionXml({ requestId })))).toMatchObject(letIn);
  const both = (requestId: string) => bySigned(requestId, signed(assertionXml({ requestId, id: '_a' }), '_a', idp));
  expect(await come(both)).toMatchObject(letIn);
});

/** A signed assertion of the victim's identity provider, its parts, and a changed copy. */
const partsOf = (requestId: string) => {
  const genuine = signed(assertionXml({ requestId, id: '_genuine' }), '_genuine', idp);
  const [signature = ''] = /<ds:Signature.*<\/ds:Signature>/s.exec(genuine) ?? [];
  const bare = genuine.replace(signature, '');
  const evil = bare.replace('_genuine', '_evil').replace('>ada-1<', '>admin<');
  return { genuine, signature, bare, evil, wrapped: { requestId } satisfies Wrapped };
};

/** Puts XML into a signature, where schemas allow anything. */
const withObject = (signature: string, xml: string): string =>
  signature.replace('</ds:Signature>', `<ds:Object>${xml}</ds:Object></ds:Signature>`);

/** Puts the genuine signature after the issuer of another element. */
const signedLike = (xml: string, signature: string): string =>
  xml.replace('</saml:Issuer>', `</saml:Issuer>${signature}`);

describe('signature wrapping', () => {
  /** The response is signed as a whole in 1 and 2. */
  const signedResponse = (requestId: string) => {
    const inner = assertionXml({ requestId, id: '_a' });
    const genuine = signed(responseXml(inner, { requestId, id: '_r' }), '_r', idp);
    const [signature = ''] = /<ds:Signature.*<\/ds:Signature>/s.exec(genuine) ?? [];
    const bare = genuine.replace(signature, '');
    return {
      signature,
      bare,
      evil: bare.replace('"_r"', '"_e"').replace('"_a"', '"_b"').replace('>ada-1<', '>admin<'),
    };
  };
  const unknownContent = 'its signature has unknown content';
  const notItsElement = 'its signature is not of the element that contains it';
  const several = 'it does not have exactly one assertion';

  it.each<[string, (requestId: string) => string, string]>([
    [
      '1: a changed response around the signature with the signed one',
      (requestId) => {
        const { signature, bare, evil } = signedResponse(requestId);
        return signedLike(evil, withObject(signature, bare));
      },
      'it contains another response',
    ],
    [
      '2: a changed response with the signed one beside its detached signature',
      (requestId) => {
        const { signature, bare, evil } = signedResponse(requestId);
        return signedLike(evil, bare + signature);
      },
      'it contains another response',
    ],
    [
      '3: a changed assertion before the signed one',
      (requestId) => {
        const { genuine, evil, wrapped } = partsOf(requestId);
        return responseXml(evil + genuine, wrapped);
      },
      several,
    ],
    [
      '4: a changed assertion around the signed one',
      (requestId) => {
        const { genuine, evil, wrapped } = partsOf(requestId);
        return responseXml(evil.replace('</saml:Assertion>', `${genuine}</saml:Assertion>`), wrapped);
      },
      several,
    ],
    [
      '5: a changed assertion with the signature, and the signed one at the end',
      (requestId) => {
        const { signature, bare, evil, wrapped } = partsOf(requestId);
        return responseXml(signedLike(evil, signature) + bare, wrapped);
      },
      several,
    ],
    [
      '6: a changed assertion with the signature, in which the signed one is',
      (requestId) => {
        const { signature, bare, evil, wrapped } = partsOf(requestId);
        return responseXml(signedLike(evil, signature.replace('</ds:Signature>', `${bare}</ds:Signature>`)), wrapped);
      },
      several,
    ],
    [
      '7: a changed assertion in extensions before the signed one',
      (requestId) => {
        const { genuine, evil, wrapped } = partsOf(requestId);
        return responseXml(`<samlp:Extensions>${evil}</samlp:Extensions>${genuine}`, wrapped);
      },
      several,
    ],
    [
      '8: a changed assertion with the signature, and the signed one in an object of the signature',
      (requestId) => {
        const { signature, bare, evil, wrapped } = partsOf(requestId);
        return responseXml(signedLike(evil, withObject(signature, bare)), wrapped);
      },
      several,
    ],
    [
      'with the signature of an element of another name in an object',
      (requestId) => {
        const { signature, bare, evil, wrapped } = partsOf(requestId);
        const renamed = bare.replaceAll('saml:Assertion', 'saml:Advice');
        return responseXml(signedLike(evil, withObject(signature, renamed)), wrapped);
      },
      unknownContent,
    ],
    [
      'with the signature of an element elsewhere',
      (requestId) => {
        const { signature, bare, evil, wrapped } = partsOf(requestId);
        const renamed = bare.replaceAll('saml:Assertion', 'saml:Advice');
        return responseXml(`<samlp:Extensions>${renamed}</samlp:Extensions>${signedLike(evil, signature)}`, wrapped);
      },
      notItsElement,
    ],
    [
      'with two elements of the same ID',
      (requestId) => {
        const { genuine, wrapped } = partsOf(requestId);
        return responseXml(`<samlp:Extensions><x ID="_genuine"/></samlp:Extensions>${genuine}`, wrapped);
      },
      'several elements with the same ID',
    ],
    [
      'with an assertion in another namespace',
      (requestId) => {
        const { genuine, evil, wrapped } = partsOf(requestId);
        const foreign = evil.replace('urn:oasis:names:tc:SAML:2.0:assertion', 'urn:other');
        return responseXml(foreign + genuine, wrapped);
      },
      several,
    ],
  ])('%s', async (_, write, words) => {
    expect(await come(write)).toMatchObject(turnedAway(words));
  });
});

describe('a signature', () => {
  const response = (requestId: string, assertion: string) => responseXml(assertion, { requestId });
  const assertion = (requestId: string) => assertionXml({ requestId, id: '_a' });

  it.each<[string, (requestId: string) => string, string]>([
    ['that is missing', (id) => response(id, assertion(id)), 'neither it nor its assertion is signed'],
    ['of another key', (id) => response(id, signed(assertion(id), '_a', attacker)), 'does not match a certificate'],
    [
      'over a changed name',
      (id) => response(id, signed(assertion(id), '_a', idp).replace('>ada-1<', '>admin<')),
      'does not match a certificate',
    ],
    [
      'over an added attribute',
      (id) =>
        response(
          id,
          signed(assertion(id), '_a', idp).replace(
            '<saml:AttributeStatement/>',
            '<saml:AttributeStatement><saml:Attribute Name="SiteAdmin"><saml:AttributeValue>true</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>',
          ),
        ),
      'does not match a certificate',
    ],
    [
      'with SHA-1',
      (id) => response(id, signed(assertion(id), '_a', idp, { signature: algorithms.rsaSha1 })),
      'rsa-sha1 is not accepted',
    ],
    [
      'with a digest of SHA-1',
      (id) => response(id, signed(assertion(id), '_a', idp, { digest: algorithms.sha1 })),
      'xmldsig#sha1 is not accepted',
    ],
    [
      'by HMAC with the public certificate as its key',
      (id) => {
        const keys = { key: idp.certificate, certificate: idp.certificate };
        return response(id, signed(assertion(id), '_a', keys, { signature: algorithms.hmac }));
      },
      'hmac-sha1 is not accepted',
    ],
    [
      'of a canonicalization with comments',
      (id) => response(id, signed(assertion(id), '_a', idp, { canonicalization: algorithms.exclusiveWithComments })),
      'WithComments is not accepted',
    ],
    [
      'with a transform that is not known',
      (id) => {
        const text = signed(assertion(id), '_a', idp);
        return response(id, text.replace(algorithms.enveloped, 'http://www.w3.org/TR/1999/REC-xpath-19991116'));
      },
      'REC-xpath-19991116 is not accepted',
    ],
    [
      'of the response that is wrong beside a right one of the assertion',
      (id) => signed(responseXml(signed(assertion(id), '_a', idp), { requestId: id, id: '_r' }), '_r', attacker),
      'does not match a certificate',
    ],
    [
      'of the assertion that is wrong within a right one of the response',
      (id) => signed(responseXml(signed(assertion(id), '_a', attacker), { requestId: id, id: '_r' }), '_r', idp),
      'does not match a certificate',
    ],
    [
      'of another response around an unsigned assertion',
      (id) => {
        const other = signed(responseXml(assertion('_other'), { requestId: '_other', id: '_r' }), '_r', idp);
        const [signature = ''] = /<ds:Signature.*<\/ds:Signature>/s.exec(other) ?? [];
        return signedLike(responseXml(assertion(id), { requestId: id, id: '_r' }), signature);
      },
      'does not match a certificate',
    ],
    [
      'with a second SignedInfo',
      (id) => {
        const text = signed(assertion(id), '_a', idp);
        const [info = ''] = /<ds:SignedInfo>.*<\/ds:SignedInfo>/s.exec(text) ?? [];
        return response(id, text.replace(info, info + info));
      },
      'has unknown content',
    ],
    [
      'of the whole document by an empty reference',
      (id) => response(id, signed(assertion(id), '_a', idp).replace('URI="#_a"', 'URI=""')),
      'is not of the element that contains it',
    ],
  ])('%s is rejected', async (_, write, words) => {
    expect(await come(write)).toMatchObject(turnedAway(words));
  });

  it('of the response alone is rejected where assertions have to be signed', async () => {
    await setUp(api, { 'want-assertions-signed': true });
    const write = (requestId: string) => signed(responseXml(assertion(requestId), { requestId, id: '_r' }), '_r', idp);
    expect(await come(write)).toMatchObject(turnedAway('its assertion is not signed'));
    expect(await come((requestId) => goodResponse({ requestId }, idp))).toMatchObject(letIn);
    await setUp(api, { 'want-assertions-signed': false });
  });
});

describe('an assertion', () => {
  it.each<[string, Partial<Told>, string]>([
    ['for another audience', { audience: 'https://other.test' }, 'was issued for another service'],
    ['for another recipient', { recipient: 'https://other.test' }, 'is for another recipient'],
    ['of another identity provider', { issuer: 'https://other.test' }, 'have different issuers'],
    ['that is too old', { from: -600, until: -120 }, 'too old'],
    ['that is not yet good', { from: 120, until: 600 }, 'not valid yet'],
    ['that answers another sign-in', { confirms: '_other' }, 'answers another sign-in'],
    ['whose session has ended', { sessionUntil: -120 }, 'the session there has ended'],
    ['with an unknown condition', { conditions: '<saml:Condition/>' }, 'unknown condition'],
    ['of a transient name', { format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }, 'transient'],
    ['without a name', { nameId: '' }, 'NameID is empty'],
    ['with a name that is too long', { nameId: 'a'.repeat(257) }, 'more than 256 characters'],
    ['with a second value of a single attribute', { attributes: { Username: ['a', 'b'] } }, 'several values'],
    [
      'with a repeated attribute',
      {
        attributes: { SiteAdmin: ['false'] },
        more: '<saml:Attribute Name="SiteAdmin"><saml:AttributeValue>true</saml:AttributeValue></saml:Attribute>',
      },
      'several values',
    ],
    ['with elements in a value', { attributes: { Username: ['<x>a</x>b'] } }, 'contains elements'],
  ])('%s is rejected', async (_, change, words) => {
    expect(await come((requestId) => goodResponse({ requestId, ...change }, idp))).toMatchObject(turnedAway(words));
  });

  it('is accepted with a clock difference below a minute', async () => {
    expect(await come((requestId) => goodResponse({ requestId, from: 30, until: 300 }, idp))).toMatchObject(letIn);
    expect(await come((requestId) => goodResponse({ requestId, from: -300, until: -30 }, idp))).toMatchObject(letIn);
  });

  it('of another issuer is rejected although response and assertion agree and the certificate is right', async () => {
    const issuer = 'https://other.test';
    const write = (requestId: string) =>
      responseXml(signed(assertionXml({ requestId, id: '_a', issuer }), '_a', idp), { requestId, issuer });
    expect(await come(write)).toMatchObject(turnedAway('comes from another identity provider'));
  });
});

describe('a response', () => {
  const wrap = (change: Wrapped) => (requestId: string) =>
    responseXml(signed(assertionXml({ requestId, id: '_a' }), '_a', idp), { requestId, ...change });

  it.each<[string, (requestId: string) => string, string]>([
    ['to another address', wrap({ destination: 'https://other.test' }), 'sent to another address'],
    [
      'that is signed and names no address',
      (requestId) => signed(wrap({ destination: null, id: '_r' })(requestId), '_r', idp),
      'has no destination',
    ],
    [
      'of a failed sign-in',
      wrap({ status: 'urn:oasis:names:tc:SAML:2.0:status:AuthnFailed' }),
      'did not sign you in (AuthnFailed',
    ],
    ['without XML', () => 'hello', 'not well-formed XML'],
    ['that is another document', () => '<a/>', 'not a SAML 2.0 response'],
    ['that is cut short', (requestId) => wrap({})(requestId).slice(0, -20), 'not well-formed XML'],
    [
      'with an external entity',
      (requestId) => `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>${wrap({})(requestId)}`,
      'a document type',
    ],
    [
      'with entities that grow',
      (requestId) =>
        `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${wrap({})(requestId)}`,
      'a document type',
    ],
    [
      'with a comment that cuts the name',
      (requestId) =>
        goodResponse({ requestId, nameId: 'admin@example.test.evil.test' }, idp).replace(
          'admin@example.test.evil',
          'admin@example.test<!-- -->.evil',
        ),
      'a comment',
    ],
    [
      'with a CDATA section',
      (requestId) => goodResponse({ requestId }, idp).replace('>ada-1<', '><![CDATA[ada-1]]><'),
      'a CDATA section',
    ],
    [
      'with a processing instruction',
      (requestId) => goodResponse({ requestId }, idp).replace('>ada-1<', '>ada-1<?x?><'),
      'a processing instruction',
    ],
    [
      'that is nested deep',
      (requestId) => responseXml('<a>'.repeat(2000) + '</a>'.repeat(2000), { requestId }),
      'nested too deep',
    ],
    [
      'of many elements',
      (requestId) => responseXml('<a/>'.repeat(5000), { requestId }),
      'nested too deep or too large',
    ],
  ])('%s is rejected', async (_, write, words) => {
    expect(await come(write)).toMatchObject(turnedAway(words));
  });

  it('of 600 KB is not read', async () => {
    const browser = new SamlBrowser();
    await browser.depart();
    expect((await browser.post(`<a>${'a'.repeat(450_000)}</a>`)).status).toBe(413);
  });

  it('is used once: by another sign-in, in the same browser, and at the same time', async () => {
    const browser = new SamlBrowser();
    const { id } = await browser.depart();
    const { cookie } = browser;
    const response = goodResponse({ requestId: id }, idp);
    const twins = await Promise.all([browser.post(response), browser.post(response)]);
    expect(twins.map(({ status }) => status).sort()).toEqual([303, 502]);
    browser.cookie = cookie;
    expect(await browser.post(response)).toMatchObject(turnedAway('it was already used'));
    const again = new SamlBrowser();
    await again.depart();
    expect(await again.post(response)).toMatchObject({ status: 400, location: '' });
  });

  it("is refused in another browser than the one that began, so that no victim is signed in as the attacker's user", async () => {
    const attackers = new SamlBrowser();
    const { id } = await attackers.depart();
    const response = goodResponse({ requestId: id }, idp);
    for (const victim of [new SamlBrowser(), new SamlBrowser()]) {
      if (victim.cookie === '') await victim.depart();
      const came = await victim.post(response);
      expect(came).toMatchObject({
        status: 400,
        location: '',
        text: expect.stringContaining('started in another browser'),
      });
    }
    expect(await new SamlBrowser().post(response)).toMatchObject({ status: 400, location: '' });
  });

  it('is shown in the failure page only in debug mode, and never as markup', async () => {
    const write = (requestId: string) => responseXml('<script>x</script>', { requestId });
    expect((await come(write)).text).not.toContain('script');
    await setUp(api, { debug: true });
    const { text } = await come(write);
    expect(text).toContain('&lt;script&gt;x');
    expect(text).not.toContain('<script>');
    await setUp(api, { debug: false });
  });
});

describe('an encrypted assertion', () => {
  const gcm = 'http://www.w3.org/2009/xmlenc11#aes256-gcm';
  const cbc = 'http://www.w3.org/2001/04/xmlenc#aes256-cbc';
  const oaep = 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p';

  const encrypted = (
    xml: string,
    { certificate = own.certificate, algorithm = gcm, transport = oaep } = {},
  ): string => {
    const key = randomBytes(32);
    const isGcm = algorithm === gcm;
    const iv = randomBytes(isGcm ? 12 : 16);
    const cipher = isGcm ? createCipheriv('aes-256-gcm', key, iv) : createCipheriv('aes-256-cbc', key, iv);
    const body: Buffer[] = [iv, cipher.update(xml, 'utf8'), cipher.final()];
    if ('getAuthTag' in cipher && isGcm) body.push((cipher as { getAuthTag(): Buffer }).getAuthTag());
    const sealed = publicEncrypt({ key: createPublicKey(certificate), oaepHash: 'sha1' }, key).toString('base64');
    return `<saml:EncryptedAssertion><xenc:EncryptedData xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" Type="http://www.w3.org/2001/04/xmlenc#Element"><xenc:EncryptionMethod Algorithm="${algorithm}"/><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><xenc:EncryptedKey><xenc:EncryptionMethod Algorithm="${transport}"/><xenc:CipherData><xenc:CipherValue>${sealed}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedKey></ds:KeyInfo><xenc:CipherData><xenc:CipherValue>${Buffer.concat(body).toString('base64')}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData></saml:EncryptedAssertion>`;
  };
  const genuine = (requestId: string) => {
    const id = `_a${requestId}`;
    return signed(assertionXml({ requestId, id }), id, idp);
  };
  const wrap = (requestId: string, inner: string) => responseXml(inner, { requestId, id: '_r' });

  it('signs in when it is signed inside, or with the whole response', async () => {
    expect(await come((id) => wrap(id, encrypted(genuine(id))))).toMatchObject(letIn);
    const outside = (id: string) => signed(wrap(id, encrypted(assertionXml({ requestId: id }))), '_r', idp);
    expect(await come(outside)).toMatchObject(letIn);
    const inCbc = (id: string) => signed(wrap(id, encrypted(genuine(id), { algorithm: cbc })), '_r', idp);
    expect(await come(inCbc)).toMatchObject(letIn);
  });

  it.each<[string, (requestId: string) => string, string]>([
    ['without a signature', (id) => wrap(id, encrypted(assertionXml({ requestId: id }))), 'neither it nor'],
    [
      'signed with another key',
      (id) => wrap(id, encrypted(signed(assertionXml({ requestId: id, id: '_a' }), '_a', attacker))),
      'does not match a certificate',
    ],
    [
      'for another platform',
      (id) => wrap(id, encrypted(genuine(id), attacker)),
      'not for the certificate of this platform',
    ],
    ['in CBC in an unsigned response', (id) => wrap(id, encrypted(genuine(id), { algorithm: cbc })), 'use AES-GCM'],
    [
      'with a key of PKCS#1 v1.5',
      (id) => wrap(id, encrypted(genuine(id), { transport: 'http://www.w3.org/2001/04/xmlenc#rsa-1_5' })),
      'rsa-1_5 is not accepted',
    ],
    [
      'beside a plain one',
      (id) => wrap(id, encrypted(genuine(id)) + assertionXml({ requestId: id, nameId: 'admin' })),
      'does not have exactly one assertion',
    ],
    ['of something else', (id) => wrap(id, encrypted('<a/>')), 'is not an assertion'],
    ['of a document type', (id) => wrap(id, encrypted(`<!DOCTYPE a>${genuine(id)}`)), 'a document type'],
    [
      'that was changed',
      (id) =>
        wrap(id, encrypted(genuine(id)).replace(/(<xenc:CipherValue>.{500})..(?=.*<\/xenc:EncryptedData>)/s, '$1AA')),
      'not for the certificate of this platform',
    ],
  ])('%s is rejected', async (_, write, words) => {
    expect(await come(write)).toMatchObject(turnedAway(words));
  });
});
