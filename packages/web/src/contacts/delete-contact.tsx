import type { Contact } from '@remit/sdk'
import { useWrite } from '../api/query.ts'
import { DeleteDialog } from '../forms/delete-dialog.tsx'

export default function DeleteContact({ contact, onClose }: { contact: Contact; onClose: () => void }) {
	return (
		<DeleteDialog
			name={contact.name}
			write={useWrite('contacts.delete')}
			args={[contact.id, { ifMatch: contact.version }]}
			to="/contacts"
			onClose={onClose}
		>
			It can no longer be found or chosen. Its deals stay as they are.
		</DeleteDialog>
	)
}
