import type { ApiKey } from '@remit/sdk'
import { useState } from 'react'
import { describe } from '../../api/errors.ts'
import { useIdempotencyKey } from '../../api/idempotency-key.ts'
import { useWrite } from '../../api/query.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { NativeSelect } from '../../ui/native-select.tsx'
import { KeyShown } from './key-shown.tsx'

const overlaps = [
	{ id: '3600', label: '1 hour' },
	{ id: '86400', label: '1 day' },
	{ id: '604800', label: '7 days' },
]

export default function RotateKey({ apiKey: { id, name, scopes }, onClose }: { apiKey: ApiKey; onClose: () => void }) {
	const [overlap, setOverlap] = useState('86400')
	const key = useIdempotencyKey()
	const { mutate, isPending, error, data } = useWrite('apiKeys.rotate')
	if (data) return <KeyShown made={data} name={name} scopes={scopes} onClose={onClose} />
	const rotate = () => mutate([id, { overlapSeconds: Number(overlap) }, key.options()], { onError: key.failed })
	return (
		<Dialog
			title={`Rotate ${name}`}
			isOpen
			onClose={onClose}
			actions={
				<>
					<Button onPress={onClose}>Cancel</Button>
					<Button look="primary" isPending={isPending} onPress={rotate}>
						Make a new key
					</Button>
				</>
			}
		>
			<p>A new key takes its place, with the same name, scopes and expiry. The old one keeps working for a while.</p>
			{error && <ErrorPanel isSmall {...describe(error)} />}
			<NativeSelect label="The old key works for" choices={overlaps} value={overlap} onChange={setOverlap} />
		</Dialog>
	)
}
