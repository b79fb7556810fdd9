import {
  atMost,
  authenticated,
  builder,
  callerProject,
  JSON_OBJECT,
  MAX_NAME_LENGTH,
  NAME,
  registerAudited,
} from '@postroom/platform';
import { createView, deleteView, listViews, VIEW_ID } from '../contact-views.ts';

const ContactView = builder.prismaObject('ContactView', {
  description: 'Filters and order of the contact list that a user saved under a name.',
  fields: (t) => ({
    viewId: t.exposeID('id', { description: 'View id.' }),
    name: t.exposeString('name', { description: 'The name.', ...atMost(MAX_NAME_LENGTH) }),
    search: t.expose('search', { type: 'JSON', description: 'The search parameters of the list.', ...JSON_OBJECT }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was saved.' }),
  }),
});

registerAudited(VIEW_ID, {
  select: 'SELECT id, name FROM contact_views WHERE id = ANY ($1::text[]) AND project_id = $2',
});

builder.queryFields((t) => ({
  contactViews: t.field({
    type: [ContactView],
    description: 'The views of the contact list that the caller saved in this project, by name; at most 50.',
    resolve: (_root, _args, context) => listViews(callerProject(context), authenticated(context).id),
  }),
}));

const CreateContactViewInput = builder.inputType('CreateContactViewInput', {
  description: 'A view to save.',
  fields: (t) => ({
    name: t.string({ required: true, description: "Unique among the user's views in the project.", ...NAME }),
    search: t.field({
      type: 'JSON',
      required: true,
      description: 'The search parameters of the list, at most 8,000 characters of JSON.',
      ...JSON_OBJECT,
    }),
  }),
});

const DeletePayload = builder.objectRef<{ deletedId: string }>('ContactViewDeletePayload').implement({
  description: 'What `contactViewDelete` did.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The id of the deleted view.' }) }),
});

builder.mutationFields((t) => ({
  createContactView: t.field({
    type: ContactView,
    description: 'Saves a view of the contact list for the caller, who must be a user.',
    args: { input: t.arg({ type: CreateContactViewInput, required: true, description: 'The view.' }) },
    resolve: (_root, { input }, context) => createView(callerProject(context), authenticated(context).id, input),
  }),
  contactViewDelete: t.field({
    type: DeletePayload,
    description: 'Deletes a view that the caller saved.',
    args: { id: t.arg.id({ required: true, description: 'View id.' }) },
    resolve: async (_root, { id }, context) => {
      await deleteView(callerProject(context), authenticated(context).id, id);
      return { deletedId: id };
    },
  }),
}));
