/**
 * Built-in functions that policies may call: functions that compute from their parameters alone, the time and random
 * numbers. All others are rejected by name, including unknown ones: `http.send` and `net.lookup_ip_addr` access the
 * network, `opa.runtime` the environment, and `json.match_schema` and `json.verify_schema` load `$ref` targets from
 * the network and from files, regardless of `allow_net` (OPA 1.19).
 */

/** By namespace. */
const pure: Record<string, string | string[]> = {
  '': [
    'abs all and any assign cast_array cast_boolean cast_null cast_object cast_set cast_string ceil concat',
    'contains count div endswith eq equal floor format_int gt gte indexof indexof_n intersection is_array',
    'is_boolean is_null is_number is_object is_set is_string lower lt lte max min minus mul neq or plus print',
    'product re_match rem replace round set_diff sort split sprintf startswith substring sum to_number trace trim',
    'trim_left trim_prefix trim_right trim_space trim_suffix type_name union upper walk',
  ],
  array: 'concat flatten reverse slice',
  base64: 'decode encode is_valid',
  base64url: 'decode encode encode_no_pad',
  bits: 'and lsh negate or rsh xor',
  crypto: 'md5 parse_private_keys sha1 sha256',
  'crypto.hmac': 'equal md5 sha1 sha256 sha512',
  'crypto.x509': [
    'parse_and_verify_certificates parse_and_verify_certificates_with_options',
    'parse_certificate_request parse_certificates parse_keypair parse_rsa_private_key',
  ],
  glob: 'match quote_meta',
  graph: 'reachable reachable_paths',
  graphql: 'is_valid parse parse_and_verify parse_query parse_schema schema_is_valid',
  hex: 'decode encode',
  internal: 'member_2 member_3 print template_string test_case',
  'io.jwt': [
    'decode decode_verify encode_sign encode_sign_raw verify_eddsa verify_es256 verify_es384 verify_es512',
    'verify_hs256 verify_hs384 verify_hs512 verify_ps256 verify_ps384 verify_ps512 verify_rs256',
    'verify_rs384 verify_rs512',
  ],
  json: 'filter is_valid marshal marshal_with_options patch remove unmarshal',
  net: 'cidr_contains cidr_contains_matches cidr_expand cidr_intersects cidr_is_valid cidr_merge cidr_overlap',
  numbers: 'range range_step',
  object: 'filter get keys remove subset union union_n',
  'providers.aws': 'sign_req',
  rand: 'intn',
  regex: 'find_all_string_submatch_n find_n globs_match is_valid match replace split template_match',
  rego: 'parse_module',
  'rego.metadata': 'chain rule',
  semver: 'compare is_valid',
  strings: 'any_prefix_match any_suffix_match count render_template replace_n reverse split_n',
  time: 'add_date clock date diff format now_ns parse_duration_ns parse_ns parse_rfc3339_ns weekday',
  units: 'parse parse_bytes',
  uri: 'is_valid parse',
  urlquery: 'decode decode_object encode encode_object',
  uuid: 'parse rfc4122',
  yaml: 'is_valid marshal unmarshal',
};

const names = new Set(
  Object.entries(pure).flatMap(([namespace, functions]) =>
    [functions].flat().flatMap((some) => some.split(' ').map((name) => (namespace ? `${namespace}.${name}` : name))),
  ),
);

export const isPure = (builtin: string): boolean => names.has(builtin);
