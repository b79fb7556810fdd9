export {
  addContacts,
  createGroup,
  deleteGroup,
  getGroup,
  groupNamed,
  joinGroup,
  listGroups,
  updateGroup,
} from './groups.ts';
