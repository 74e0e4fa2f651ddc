import type { NewApiKey } from '@remit/sdk'
import { useState } from 'react'
import { useIdempotencyKey } from '../../api/idempotency-key.ts'
import { useWrite } from '../../api/query.ts'
import { addDays, dayIn } from '../../format/dates.ts'
import { usePlainForm } from '../../forms/use-plain-form.ts'
import { ApiKeyCreate } from '../../generated/fields.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Field } from '../../ui/field.tsx'
import { NativeSelect } from '../../ui/native-select.tsx'
import { KeyShown } from './key-shown.tsx'
import { ScopeGrid } from './scope-grid.tsx'
import { type Grid, type PresetName, presetOf, presets, scopesOf } from './scopes.ts'
import '../../forms/plain-form.css'

const days = 86_400_000

const expiries = [
	{ id: '30', label: '30 days' },
	{ id: '90', label: '90 days' },
	{ id: '365', label: 'A year' },
	{ id: 'date', label: 'On a day' },
	{ id: 'never', label: 'Never' },
]

/** To the end of the day, where the person is. */
const expiresAt = (expiry: string, day: string, now: number): number | null => {
	if (expiry === 'never') return null
	return expiry === 'date' ? new Date(`${day}T23:59:59`).getTime() : now + Number(expiry) * days
}

export default function NewKey({ timeZone, onClose }: { timeZone: string; onClose: () => void }) {
	const [grid, setGrid] = useState<Grid>(presets.readOnly)
	const [made, setMade] = useState<NewApiKey>()
	// Pressed again, the same is sent.
	const [now] = useState(Date.now)
	const today = dayIn(timeZone, now)
	const key = useIdempotencyKey()
	const { mutateAsync } = useWrite('apiKeys.create')
	const scopes = scopesOf(grid)
	const form = usePlainForm({
		values: { name: '', expiry: '90', expiresAt: addDays(today, 90), scopes: 'some' },
		rules: { name: ApiKeyCreate.name },
		send: async ({ name, expiry, expiresAt: day }) => {
			try {
				const body = { name, scopes, expiresAt: expiresAt(expiry, day, now) }
				setMade(await mutateAsync([body, key.options()]))
			} catch (error) {
				key.failed(error)
				throw error
			}
		},
	})
	if (made) return <KeyShown made={made} name={form.values.name} scopes={scopes} onClose={onClose} />
	const expiry = form.bind('expiry')
	return (
		<Dialog
			title="New API key"
			width="wide"
			isOpen
			onClose={onClose}
			actions={
				<>
					<Button onPress={onClose}>Cancel</Button>
					<Button type="submit" form="new-key" look="primary" isPending={form.isPending} isDisabled={scopes.length === 0}>
						Create key
					</Button>
				</>
			}
		>
			<form id="new-key" className="plain-form" noValidate onSubmit={form.submit}>
				{form.trouble && <ErrorPanel isSmall {...form.trouble} />}
				<Field {...form.bind('name')} label="Name" hint="What will use it, such as “Web shop”." autoComplete="off" autoFocus />
				<NativeSelect
					label="May do"
					choices={[
						...Object.entries(presets).map(([id, { label }]) => ({ id, label })),
						...(presetOf(grid) ? [] : [{ id: 'own', label: 'As chosen below' }]),
					]}
					value={presetOf(grid) ?? 'own'}
					onChange={(id) => setGrid(presets[id as PresetName] ?? grid)}
				/>
				<ScopeGrid grid={grid} onChange={setGrid} />
				<NativeSelect label="Expires" choices={expiries} value={expiry.value} onChange={expiry.onChange} />
				{expiry.value === 'date' && <Field {...form.bind('expiresAt')} label="Last day" type="date" />}
			</form>
		</Dialog>
	)
}
