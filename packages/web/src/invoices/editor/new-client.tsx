import { type FormEvent, useState } from 'react'
import { describe, fieldErrors } from '../../api/errors.ts'
import { useIdempotencyKey } from '../../api/idempotency-key.ts'
import { useWrite } from '../../api/query.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { Field } from '../../ui/field.tsx'

interface NewClientProps {
	readonly name: string
	/** With the id of the new company, when there is one. */
	readonly onClose: (id?: string) => void
}

/** What an invoice needs of a company; the rest is written on its own page. */
export default function NewClient({ name: given, onClose }: NewClientProps) {
	const [name, setName] = useState(given)
	const [email, setEmail] = useState('')
	const key = useIdempotencyKey()
	const { mutate, isPending, error } = useWrite('companies.create')
	const wrong = new Map(fieldErrors(error))
	const create = () => {
		if (isPending || name.trim() === '') return
		mutate([{ name: name.trim(), billingEmail: email.trim() || null }, key.options()], {
			onSuccess: ({ id }) => onClose(id),
			onError: key.failed,
		})
	}
	return (
		<Dialog
			title="New client"
			isOpen
			onClose={() => onClose()}
			actions={
				<>
					<Button onPress={() => onClose()}>Cancel</Button>
					<Button look="primary" isPending={isPending} isDisabled={name.trim() === ''} onPress={create}>
						Create client
					</Button>
				</>
			}
		>
			<form
				className="stack"
				noValidate
				onSubmit={(event: FormEvent) => {
					event.preventDefault()
					// The form of the invoice is around this one.
					event.stopPropagation()
					create()
				}}
			>
				{error && wrong.size === 0 && <ErrorPanel isSmall {...describe(error)} />}
				<Field label="Name" isRequired value={name} onChange={setName} error={wrong.get('name')} />
				<Field
					label="E-mail for invoices"
					type="email"
					autoFocus
					value={email}
					onChange={setEmail}
					error={wrong.get('billingEmail')}
				/>
				<button type="submit" hidden />
			</form>
		</Dialog>
	)
}
