import type { Deal } from '@remit/sdk'
import { useWrite } from '../api/query.ts'
import { DeleteDialog } from '../forms/delete-dialog.tsx'

export default function DeleteDeal({ deal, onClose }: { deal: Deal; onClose: () => void }) {
	return (
		<DeleteDialog
			name={deal.name}
			write={useWrite('deals.delete')}
			args={[deal.id, { ifMatch: deal.version }]}
			to="/deals"
			onClose={onClose}
		>
			It can no longer be found or chosen. Its invoices and time entries stay as they are; billable time that is on no invoice
			keeps it from being deleted.
		</DeleteDialog>
	)
}
