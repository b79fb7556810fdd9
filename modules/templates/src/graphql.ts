import {
  builder,
  callerProject,
  db,
  jsonSchema,
  NAME,
  NOT_EMPTY,
  Node,
  registerNode,
  rowsQuery,
  relayNames,
} from '@postroom/platform';
import {
  createTemplate,
  deleteTemplate,
  getTemplate,
  listTemplates,
  publishTemplate,
  updateTemplate,
} from './templates.ts';

const TemplateStatus = builder.enumType('TemplateStatus', {
  description: 'Whether a template is ready to be sent.',
  values: {
    draft: { description: 'Still being written.' },
    published: { description: 'Ready to be sent.' },
  },
});

export const ContentFormat = builder.enumType('ContentFormat', {
  description: 'What a body is written in.',
  values: {
    html: { description: 'HTML, which is sent as it is.' },
    mjml: { description: 'MJML, which is made into HTML when it is saved.' },
  },
});

const Template = builder.prismaObject('Template', {
  interfaces: [Node],
  description: 'Content to send again and again; its placeholders may have a default value.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Template id.' }),
    name: t.exposeString('name', { description: 'Unique within the project.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'The subject to start from.' }),
    body: t.exposeString('body', { description: 'HTML with placeholders such as `{{name|there}}`.' }),
    format: t.expose('format', { type: ContentFormat, description: 'What the body was written in.' }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'The MJML that the body was made from; null when it is HTML as it was written.',
    }),
    status: t.expose('status', { type: TemplateStatus, description: 'Whether it is ready to be sent.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

registerNode('tpl', 'Template', (projectId, id) => db.template.findFirst({ where: { id, projectId } }));

builder.queryFields((t) => ({
  template: t.prismaField({
    type: Template,
    description: 'A template of the project; `not_found` when there is none.',
    args: { id: t.arg.id({ required: true, description: 'Template id.' }) },
    resolve: (query, _root, { id }, context) => getTemplate(callerProject(context), id, query),
  }),
  templates: t.connection(
    {
      type: Template,
      description: "The project's templates, newest first.",
      resolve: (_root, args, context, info) => listTemplates(callerProject(context), args, rowsQuery(context, info)),
    },
    ...relayNames('Template'),
  ),
}));

const CreateTemplateInput = builder.inputType('CreateTemplateInput', {
  description: 'A new template; it begins as a draft.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Unique within the project; 1 to 200 characters.', ...NAME }),
    subject: t.string({
      description: 'The subject to start from; placeholders allowed.',
      ...jsonSchema({ maxLength: 998 }),
    }),
    body: t.string({ required: true, description: 'HTML, or MJML, with placeholders such as `{{name|there}}`.' }),
    format: t.field({ type: ContentFormat, description: 'What the body is written in; HTML unless given.' }),
  }),
});

const UpdateTemplateInput = builder.inputType('UpdateTemplateInput', {
  ...NOT_EMPTY,
  description: 'What to change; what is not given stays.',
  fields: (t) => ({
    name: t.string({ description: 'A new name, unique within the project.', ...NAME }),
    subject: t.string({ description: 'A new subject; null removes it.', ...jsonSchema({ maxLength: 998 }) }),
    body: t.string({ description: 'New HTML, or MJML.' }),
    format: t.field({ type: ContentFormat, description: 'What the new body is written in; HTML unless given.' }),
  }),
});

const idArg = { required: true, description: 'Template id.' } as const;

builder.mutationFields((t) => ({
  createTemplate: t.prismaField({
    type: Template,
    description: 'Creates a draft. `conflict` when the name is taken.',
    args: { input: t.arg({ type: CreateTemplateInput, required: true, description: 'The template.' }) },
    resolve: async (query, _root, { input }, context) => {
      const { id } = await createTemplate(callerProject(context), input);
      return db.template.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  updateTemplate: t.prismaField({
    type: Template,
    description: 'Changes a template.',
    args: {
      id: t.arg.id(idArg),
      input: t.arg({ type: UpdateTemplateInput, required: true, description: 'What to change.' }),
    },
    resolve: async (query, _root, { id, input }, context) => {
      await updateTemplate(callerProject(context), id, input);
      return db.template.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  publishTemplate: t.prismaField({
    type: Template,
    description: 'Makes a template ready to be sent.',
    args: { id: t.arg.id(idArg) },
    resolve: async (query, _root, { id }, context) => {
      await publishTemplate(callerProject(context), id);
      return db.template.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  deleteTemplate: t.field({
    type: 'Boolean',
    description: 'Deletes a template; true when it is gone.',
    args: { id: t.arg.id(idArg) },
    resolve: async (_root, { id }, context) => {
      await deleteTemplate(callerProject(context), id);
      return true;
    },
  }),
}));
