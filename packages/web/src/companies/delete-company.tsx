import type { Company } from '@remit/sdk'
import { useWrite } from '../api/query.ts'
import { DeleteDialog } from '../forms/delete-dialog.tsx'

export default function DeleteCompany({ company, onClose }: { company: Company; onClose: () => void }) {
	return (
		<DeleteDialog
			name={company.name}
			write={useWrite('companies.delete')}
			args={[company.id, { ifMatch: company.version }]}
			to="/companies"
			onClose={onClose}
		>
			It can no longer be found or chosen. Its deals and invoices stay as they are.
		</DeleteDialog>
	)
}
