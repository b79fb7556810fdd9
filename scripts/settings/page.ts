import { z } from 'zod';
import { PROGRAM_NAMES } from '@postroom/settings';
import { REQUIREMENTS } from '@postroom/settings';
import { SECRETS, SECTIONS } from '@postroom/settings';

/** The page that lists every setting. */
export const PAGE = new URL('../../docs/reference/settings.md', import.meta.url);

/** Variables that the Temporal SDK reads by itself. */
const OF_TEMPORAL_SDK = [
  ['TEMPORAL_TLS', '`true` turns TLS on; a client certificate or an API key does so too'],
  ['TEMPORAL_TLS_CLIENT_CERT_PATH', 'PEM file of the client certificate (mTLS); its content in `…_CERT_DATA`'],
  ['TEMPORAL_TLS_CLIENT_KEY_PATH', "PEM file of the certificate's key; its content in `…_KEY_DATA`"],
  ['TEMPORAL_TLS_SERVER_CA_CERT_PATH', "PEM file of the server's CA, if it is a private one; `…_CA_CERT_DATA`"],
  ['TEMPORAL_TLS_SERVER_NAME', "name in the server's certificate, if it differs from the host in the address"],
  ['TEMPORAL_GRPC_META_…', 'a gRPC header of every request, named by the rest of the variable'],
  [
    'TEMPORAL_CONFIG_FILE',
    "file with profiles, as Temporal's command line writes it; none is read without this or the next variable",
  ],
  ['TEMPORAL_PROFILE', "the profile in that file, or in the command line's own"],
] as const;

const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/** docs/reference/settings.md, from the settings that the programs read and what each program needs. */
export function settingsPage(): string {
  const sections = Object.entries(SECTIONS).map(([title, settings]) => {
    const rows = Object.entries(settings).map(([name, setting]) => [`\`${name}\``, ...describe(setting)]);
    const more = title === 'Temporal' ? `\n\n${temporalSdk()}` : '';
    return `## ${title}\n\n${table(['variable', 'default', 'meaning'], rows)}${more}`;
  });
  return `# Settings

Every setting is an environment variable. A program checks its settings before it starts, and exits with status 1 and a message that
lists every problem: values that are invalid, settings that contradict each other, and settings that it needs. An empty variable counts
as not set. \`postroom doctor\` also checks what the settings point at. \`npm run generate\` writes this page.

## Required settings

${table(['program', 'requires', 'in production also'], PROGRAM_NAMES.map(requirementsOf))}

\`npm start\` provides all of them in development.

## Secrets in files

Each of these can be given as a file, such as a secret that Docker or Kubernetes mounts: add \`_FILE\` to the name and set it to the
path. A newline at the end of the file is ignored. Setting both is an error.

${SECRETS.map((name) => `- \`${name}_FILE\``).join('\n')}

${sections.join('\n\n')}
`;
}

function requirementsOf(program: (typeof PROGRAM_NAMES)[number]): string[] {
  const listed = (production: boolean) =>
    REQUIREMENTS[program]
      .filter((requirement) => 'inProduction' in requirement === production)
      .map(({ settings, when }) => {
        const names = settings.map((name) => `\`${name}\``).join(' or ');
        return when === undefined ? names : `${names} (${when.text})`;
      })
      .join(', ');
  return [program, listed(false), listed(true)];
}

function temporalSdk(): string {
  return `The Temporal SDK reads these itself; see [Temporal Cloud](../how-to/operations.md#temporal-cloud-and-tls):

${table(
  ['variable', 'meaning'],
  OF_TEMPORAL_SDK.map(([name, meaning]) => [`\`${name}\``, meaning]),
)}`;
}

function describe(setting: z.ZodType): [defaultValue: string, meaning: string] {
  const { data } = setting.safeParse(undefined);
  const text = Array.isArray(data) ? data.join(', ') : data;
  const shown = text === undefined || typeof text === 'string' ? text : JSON.stringify(Number(text));
  return [shown === undefined ? '' : `\`${shown}\``, (setting.description ?? '') + limitsOf(setting)];
}

function limitsOf(setting: z.ZodType): string {
  const schema = z.toJSONSchema(setting, { io: 'input', unrepresentable: 'any' });
  const { enum: choices, minimum, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (choices !== undefined && choices[0] !== '0') return ` (${choices.join(', ')})`;
  if (minimum === undefined) return '';
  if (minimum === 0 && maximum === 65_535) return ''; // a port
  return maximum === Number.MAX_SAFE_INTEGER ? ` (at least ${minimum})` : ` (${minimum} to ${maximum})`;
}
