import { logoUrl, MAX_LOGO_LENGTH, setLogo } from './logo.ts';
import { actorName } from './actors.ts';
import {
  atMost,
  authenticated,
  builder,
  callerProject,
  config,
  type Context,
  db,
  DomainError,
  invalid,
  MAX_NAME_LENGTH,
  Node,
  registerNode,
  replacesMutation,
  useInstead,
  managersOnly,
} from '@postroom/platform';
import {
  createApiKey,
  findApiKeys,
  type KeyRights,
  listApiKeys,
  removeKeyFromProject,
  revokeKeyOf,
} from './api-keys.ts';
import {
  allProjectIds,
  listProjects,
  MAX_POSTAL_ADDRESS_LENGTH,
  renameProject,
  setBrandColor,
  setCustomEventRetention,
  setEventRetention,
  setMessageRetention,
  setPostalAddress,
  updateTracking,
} from './projects.ts';

const Project = builder.prismaObject('Project', {
  interfaces: [Node],
  select: { id: true },
  description: 'A project, with its own contacts, campaigns and API keys. Every request acts on exactly one.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Project id, as in `X-Project-Id`.' }),
    name: t.exposeString('name', { description: 'Display name.', ...atMost(MAX_NAME_LENGTH) }),
    trackOpens: t.exposeBoolean('trackOpens', {
      description: 'Whether opens are tracked by default, for campaigns and messages that do not specify it.',
    }),
    trackClicks: t.exposeBoolean('trackClicks', {
      description: 'Whether clicks are tracked by default, for campaigns and messages that do not specify it.',
    }),
    brandColor: t.exposeString('brandColor', {
      nullable: true,
      description: 'The color of recipient-facing pages, such as `#1f5eff`.',
    }),
    logoUrl: t.string({
      nullable: true,
      select: { logoHash: true },
      description: 'The logo on recipient-facing pages; null if there is none.',
      resolve: ({ logoHash }) => (logoHash === null ? null : logoUrl(logoHash)),
    }),
    postalAddress: t.exposeString('postalAddress', {
      nullable: true,
      description: "The sender's postal address, shown in the footer of campaigns and by `{{postal_address}}`.",
      ...atMost(MAX_POSTAL_ADDRESS_LENGTH),
    }),
    messageRetentionDays: t.exposeInt('messageRetentionDays', {
      nullable: true,
      description: "Days that messages are kept, as set for the project; null means the installation's default.",
    }),
    keptMessageDays: t.int({
      nullable: true,
      select: { messageRetentionDays: true },
      description: 'Days that messages are kept; null means forever.',
      resolve: ({ messageRetentionDays }) => messageRetentionDays ?? config.MESSAGE_RETENTION_DAYS ?? null,
    }),
    eventRetentionDays: t.exposeInt('eventRetentionDays', {
      nullable: true,
      description: "Days that events are kept, as set for the project; null means the installation's default.",
    }),
    keptEventDays: t.int({
      select: { eventRetentionDays: true },
      description: 'Days that events are kept, with their deliveries and attempts.',
      resolve: ({ eventRetentionDays }) => eventRetentionDays ?? config.RETENTION_DAYS,
    }),
    customEventRetentionDays: t.exposeInt('customEventRetentionDays', {
      nullable: true,
      description: "Days that custom events are kept, as set for the project; null means the installation's default.",
    }),
    keptCustomEventDays: t.int({
      select: { customEventRetentionDays: true },
      description: 'Days that custom events are kept.',
      resolve: ({ customEventRetentionDays }) => customEventRetentionDays ?? config.CUSTOM_EVENT_RETENTION_DAYS,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
});

registerNode(
  'prj',
  'Project',
  (context, ids) => {
    const { projects } = authenticated(context);
    const own = projects === 'all' ? ids : ids.filter((id) => projects.includes(id));
    return db.project.findMany({ where: { id: { in: own } } });
  },
  'read',
  {
    select: `SELECT id, name, brand_color AS "brandColor", postal_address AS "postalAddress", track_opens AS "trackOpens",
        track_clicks AS "trackClicks", message_retention_days AS "messageRetentionDays",
        event_retention_days AS "eventRetentionDays", custom_event_retention_days AS "customEventRetentionDays"
      FROM projects WHERE id = ANY ($1::text[]) AND id = $2`,
  },
);

builder.queryField('projects', (t) =>
  t.field({
    type: [Project],
    description: 'The projects the key can act on, newest first.',
    resolve: (_root, _args, context) => listProjects(authenticated(context).projects),
  }),
);

const KeyScope = builder.enumType('KeyScope', {
  description: 'The scope of an API key.',
  values: {
    sending: { description: 'Only send transactional mail.' },
    full: { description: 'Everything except operations for signed-in users only.' },
  },
});

const ApiKey = builder.prismaObject('ApiKey', {
  interfaces: [Node],
  description: 'An API key. Its secret cannot be read again.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Key id.' }),
    name: t.exposeString('name', { description: 'Display name.', ...atMost(MAX_NAME_LENGTH) }),
    last4: t.exposeString('last4', { description: 'The last four characters of the secret.' }),
    scope: t.expose('scope', { type: KeyScope, description: 'What it may do.' }),
    allProjects: t.exposeBoolean('allProjects', {
      description: 'Whether it covers every project, including future ones.',
    }),
    excludedProjectIds: t.exposeIDList('excludedProjectIds', {
      description: 'The projects that were excluded from a key for all projects.',
    }),
    createdById: t.exposeID('createdById', {
      nullable: true,
      description: 'The user who created it; null if an operator did.',
    }),
    createdByName: t.string({
      nullable: true,
      description: 'What the user who created it is called now; null if an operator did, or the user is gone.',
      ...atMost(MAX_NAME_LENGTH),
      select: { createdById: true },
      resolve: ({ createdById }) => actorName(createdById),
    }),
    projectIds: t.field({
      type: ['ID'],
      description: 'The projects that it covers; empty if it covers all.',
      select: { projects: { select: { projectId: true } } },
      resolve: (key) => key.projects.map(({ projectId }) => projectId),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to the minute.',
    }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When it was revoked.' }),
  }),
});

registerNode('key', 'ApiKey', (context, ids) => findApiKeys(callerProject(context), ids), 'manage', {
  select: `SELECT k.id, k.name FROM api_keys k WHERE k.id = ANY ($1::text[])
      AND (k.all_projects OR EXISTS (SELECT FROM api_key_projects p WHERE p.key_id = k.id AND p.project_id = $2))`,
});

builder.queryField('apiKeys', (t) =>
  t.prismaField({
    type: [ApiKey],
    ...managersOnly,
    description: 'The API keys that cover the project, newest first.',
    resolve: (query, _root, _args, context) => listApiKeys(callerProject(context), query),
  }),
);

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: 'A new key.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Display name.' }),
    scope: t.field({ type: KeyScope, required: true, description: 'What it may do.' }),
    projectIds: t.idList({
      description: 'The projects that it covers; by default, the project of the request.',
    }),
    allProjects: t.boolean({ description: 'Covers every project, including future ones.' }),
  }),
});

const CreateApiKeyPayload = builder.objectRef<{ id: string; key: string }>('CreateApiKeyPayload').implement({
  description: 'A new API key, with its secret.',
  fields: (t) => ({
    apiKey: t.prismaField({
      type: ApiKey,
      description: 'The API key, without its secret.',
      resolve: (query, { id }) => db.apiKey.findUniqueOrThrow({ ...query, where: { id } }),
    }),
    id: t.exposeID('id', { description: 'Key id.', deprecationReason: 'Use CreateApiKeyPayload.apiKey.' }),
    key: t.exposeString('key', { description: 'The secret, which is shown only once.' }),
  }),
});

/** The columns that decide whether the caller may revoke a key. */
function keyRights(context: Context): KeyRights {
  const caller = authenticated(context);
  return {
    userId: caller.id,
    ownsAll: async () => (await allProjectIds()).every((projectId) => caller.may('own', projectId)),
    manages: (projectId) => caller.may('manage', projectId),
  };
}

const ApiKeyRevokePayload = builder.objectRef<{ id: string }>('ApiKeyRevokePayload').implement({
  description: 'What `apiKeyRevoke` did.',
  fields: (t) => ({
    apiKey: t.prismaField({
      type: ApiKey,
      description: 'The revoked API key.',
      resolve: (query, { id }) => db.apiKey.findUniqueOrThrow({ ...query, where: { id } }),
    }),
  }),
});

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: CreateApiKeyPayload,
    ...managersOnly,
    description: 'Creates an API key. The caller must manage every project that the key covers.',
    args: { input: t.arg({ type: CreateApiKeyInput, required: true, description: 'The key.' }) },
    resolve: async (_root, { input }, context) => {
      const caller = authenticated(context);
      if (input.allProjects === true && input.projectIds != null)
        throw invalid({ field: 'projectIds', message: 'must not be combined with allProjects' });
      const projects = input.allProjects === true ? 'all' : (input.projectIds ?? [caller.projectId]);
      const covered = projects === 'all' ? await allProjectIds() : projects;
      const permission = projects === 'all' ? 'own' : 'manage';
      if (!covered.every((projectId) => caller.may(permission, projectId))) {
        throw new DomainError(
          'forbidden',
          'You may create keys only for projects that you manage, and keys for all projects only if you own each of them.',
        );
      }
      return createApiKey({ name: input.name, scope: input.scope, projects, createdById: caller.id });
    },
  }),
  renameProject: t.prismaField({
    type: Project,
    ...managersOnly,
    description: 'Renames the project.',
    args: { name: t.arg.string({ required: true, description: '1 to 200 characters.' }) },
    resolve: async (query, _root, { name }, context) => {
      await renameProject(callerProject(context), name);
      return db.project.findUniqueOrThrow({ ...query, where: { id: callerProject(context) } });
    },
  }),
  updateTracking: t.prismaField({
    type: Project,
    ...managersOnly,
    description: 'Sets whether opens and clicks are tracked by default.',
    args: {
      opens: t.arg.boolean({ description: 'Whether opens are tracked; unchanged if omitted.' }),
      clicks: t.arg.boolean({ description: 'Whether clicks are tracked; unchanged if omitted.' }),
    },
    resolve: async (query, _root, { opens, clicks }, context) => {
      await updateTracking(callerProject(context), { opens, clicks });
      return db.project.findUniqueOrThrow({ ...query, where: { id: callerProject(context) } });
    },
  }),
  setMessageRetention: t.prismaField({
    type: Project,
    ...managersOnly,
    description:
      "Sets how long the project's messages are kept, with recipients, contents and outcomes. Counts, links and suppressions stay.",
    args: { days: t.arg.int({ description: "30 to 3650 days; null means the installation's default." }) },
    resolve: async (query, _root, { days }, context) => {
      await setMessageRetention(callerProject(context), days ?? null);
      return db.project.findUniqueOrThrow({ ...query, where: { id: callerProject(context) } });
    },
  }),
  setEventRetention: t.prismaField({
    type: Project,
    ...managersOnly,
    description:
      "Sets how long the project's events are kept, with their deliveries and attempts. Pending deliveries stay.",
    args: { days: t.arg.int({ description: "1 to 3650 days; null means the installation's default." }) },
    resolve: async (query, _root, { days }, context) => {
      await setEventRetention(callerProject(context), days ?? null);
      return db.project.findUniqueOrThrow({ ...query, where: { id: callerProject(context) } });
    },
  }),
  setCustomEventRetention: t.prismaField({
    type: Project,
    ...managersOnly,
    description: 'Sets how long custom events of the project are kept.',
    args: { days: t.arg.int({ description: "30 to 3650 days; null means the installation's default." }) },
    resolve: async (query, _root, { days }, context) => {
      await setCustomEventRetention(callerProject(context), days ?? null);
      return db.project.findUniqueOrThrow({ ...query, where: { id: callerProject(context) } });
    },
  }),
  setBrandColor: t.prismaField({
    type: Project,
    ...managersOnly,
    description: 'Sets the color of recipient-facing pages.',
    args: { color: t.arg.string({ description: 'A color such as `#1f5eff`; null for the default.' }) },
    resolve: async (query, _root, { color }, context) => {
      await setBrandColor(callerProject(context), color ?? null);
      return db.project.findUniqueOrThrow({ ...query, where: { id: callerProject(context) } });
    },
  }),
  setProjectLogo: t.prismaField({
    type: Project,
    ...managersOnly,
    description: 'Sets the logo on recipient-facing pages.',
    args: {
      image: t.arg.string({
        description: 'A PNG, JPEG or WebP image of at most 200 KB, in base64; null removes it.',
        ...atMost(MAX_LOGO_LENGTH),
      }),
    },
    resolve: async (query, _root, { image }, context) => {
      await setLogo(callerProject(context), image ?? null);
      return db.project.findUniqueOrThrow({ ...query, where: { id: callerProject(context) } });
    },
  }),
  setPostalAddress: t.prismaField({
    type: Project,
    ...managersOnly,
    description: 'Sets the postal address that campaigns show in their footer.',
    args: {
      address: t.arg.string({
        description: 'At most 500 characters, on one line or several; null removes it.',
        ...atMost(MAX_POSTAL_ADDRESS_LENGTH),
      }),
    },
    resolve: async (query, _root, { address }, context) => {
      await setPostalAddress(callerProject(context), address ?? null);
      return db.project.findUniqueOrThrow({ ...query, where: { id: callerProject(context) } });
    },
  }),
  apiKeyRevoke: t.field({
    type: ApiKeyRevokePayload,
    ...managersOnly,
    ...replacesMutation('revokeApiKey'),
    description: 'Revokes an API key of the project, immediately and irreversibly.',
    args: { id: t.arg.id({ required: true, description: 'Key id.' }) },
    resolve: async (_root, { id }, context) => {
      await revokeKeyOf(callerProject(context), id, keyRights(context));
      return { id };
    },
  }),
  revokeApiKey: t.field({
    type: 'Boolean',
    ...managersOnly,
    deprecationReason: useInstead('apiKeyRevoke'),
    description:
      'Revokes an API key of the project, immediately and irreversibly. Returns true. Allowed for its creator, and for users who manage every project that it covers.',
    args: { id: t.arg.id({ required: true, description: 'Key id.' }) },
    resolve: async (_root, { id }, context) => {
      await revokeKeyOf(callerProject(context), id, keyRights(context));
      return true;
    },
  }),
  removeApiKeyFromProject: t.prismaField({
    type: ApiKey,
    ...managersOnly,
    description:
      'Removes this project from an API key, immediately. The key keeps its other projects, and is revoked if it has none left.',
    args: { id: t.arg.id({ required: true, description: 'Key id.' }) },
    resolve: async (query, _root, { id }, context) => {
      await removeKeyFromProject(callerProject(context), id);
      return db.apiKey.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
}));
