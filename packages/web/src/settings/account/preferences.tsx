import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ownLocale, sessionQuery, setOwnLocale, useSession } from '../../api/session.ts'
import { localeChoices, localeExample } from '../../format/locales.ts'
import { Card } from '../../ui/card.tsx'
import { CheckBox } from '../../ui/check-box.tsx'
import { NativeSelect } from '../../ui/native-select.tsx'
import { areKeysOn, setKeysOn } from '../../ui/single-keys.ts'
import { applyTheme, currentTheme, type Theme } from '../../ui/theme.ts'

const themes = [
	{ id: 'system', label: 'As the system' },
	{ id: 'light', label: 'Light' },
	{ id: 'dark', label: 'Dark' },
]

const organizations = 'organization'

/** What this browser keeps, for whoever uses it. */
export function Preferences() {
	const [theme, setTheme] = useState(currentTheme)
	const [hasKeys, setKeys] = useState(areKeysOn)
	const [own, setOwn] = useState(ownLocale)
	const { locale, currency } = useSession()
	const client = useQueryClient()
	const write = (chosen: string | null) => {
		setOwnLocale(chosen)
		setOwn(chosen)
		void client.invalidateQueries({ queryKey: sessionQuery.queryKey })
	}
	return (
		<Card title="This browser">
			<NativeSelect
				label="Theme"
				choices={themes}
				value={theme}
				onChange={(id) => {
					applyTheme(id as Theme)
					setTheme(id as Theme)
				}}
			/>
			<NativeSelect
				label="Amounts and dates"
				choices={[{ id: organizations, label: 'As the organization' }, ...localeChoices(own ?? locale)]}
				value={own ?? organizations}
				onChange={(id) => write(id === organizations ? null : id)}
				hint={localeExample(locale, currency)}
			/>
			<CheckBox
				isSelected={hasKeys}
				onChange={(isOn) => {
					setKeysOn(isOn)
					setKeys(isOn)
				}}
			>
				Shortcuts of single letters
			</CheckBox>
		</Card>
	)
}
