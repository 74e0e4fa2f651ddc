import { CircleCheck, Send, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { useSession } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { onFirstUse } from '../../ui/on-first-use.tsx'
import { InDialog } from '../../ui/places.tsx'
import type { BatchAction } from './batch.ts'
import type { Row } from './list-query.ts'

const BatchDialog = onFirstUse(() => import('./batch-dialog.tsx'), InDialog)

interface ChosenBarProps {
	readonly rows: readonly Row[]
	/** How many there are, where all of them are to be chosen. */
	readonly wanted: number | undefined
	/** Whether some of them are still being read. */
	readonly isComing: boolean
	readonly onChange: (chosen: ReadonlySet<string>) => void
}

/** What can be done with the chosen rows, always in sight. */
export default function ChosenBar({ rows, wanted = rows.length, isComing, onChange }: ChosenBarProps) {
	// Those that were chosen when the dialog opened: rows change while it works.
	const [open, setOpen] = useState<{ action: BatchAction; rows: readonly Row[] }>()
	const { is } = useSession()
	const begin = (action: BatchAction) => setOpen({ action, rows })
	return (
		<section className="chosen-bar" aria-label="Selected invoices">
			<span className="chosen-count" role="status">
				{wanted > rows.length ? `${rows.length} of ${wanted} selected` : `${rows.length} selected`}
				{wanted > rows.length && (isComing ? '…' : ', as many as can be done at once')}
			</span>
			<Button icon={<Send />} isDisabled={isComing} onPress={() => begin('send')}>
				Send
			</Button>
			<Button icon={<CircleCheck />} isDisabled={isComing} onPress={() => begin('pay')}>
				Mark paid
			</Button>
			{is('manager') && (
				<Button look="danger" icon={<Trash2 />} isDisabled={isComing} onPress={() => begin('delete')}>
					Delete
				</Button>
			)}
			<Button look="quiet" aria-label="Clear selection" icon={<X />} onPress={() => onChange(new Set())} />
			{open && (
				<BatchDialog
					{...open}
					onClose={(left) => {
						setOpen(undefined)
						if (left) onChange(new Set(left))
					}}
				/>
			)}
		</section>
	)
}
