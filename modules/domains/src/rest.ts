import { found, gql, page, PAGE, PAGE_ARGS, type Route } from '@postroom/platform';

const tag = 'Domains';
const fields = 'domain verifiedForSending dkim mailFrom dmarc region createdAt';

/** `{id}` is the project: the REST layer checks that the key may act on it, and nothing else reads it. */
export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/projects/{id}/domains',
    needs: 'full',
    project: 'path',
    tag,
    summary: 'List the sending domains of a project',
    document: gql`query (${PAGE_ARGS}) {
      domains(first: $limit, after: $cursor) { nodes { ${fields} } ${PAGE} }
    }`,
    reply: page('domains'),
  },
  {
    method: 'GET',
    path: '/v1/projects/{id}/domains/{domain}',
    needs: 'full',
    project: 'path',
    tag,
    summary: 'Retrieve a sending domain',
    document: gql`query ($domain: String!) {
      domain(domain: $domain) {
        ${fields} verification
        records { purpose type name value }
        recommendations { id: code severity title detail record { type name value } }
        dnsProvider { id: code name editorUrl }
        lifecycle { at type part actor detail }
      }
    }`,
    reply: found('domain'),
  },
];
