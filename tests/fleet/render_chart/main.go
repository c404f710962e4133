// Renders a chart as Helm does, with Go's templates and Helm's library of functions (sprig), since
// Debian has no Helm: `render_chart FOLDER VALUES.json` prints each template's text. Stricter than Helm: a value that the
// chart's values.yaml does not name is an error.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func readYAML(path string) map[string]any {
	content, err := os.ReadFile(path)
	must(err)
	read := map[string]any{}
	must(yaml.Unmarshal(content, &read))
	return read
}

// Objects are joined key by key, anything else is replaced: as Helm does with -f and --set.
func merge(into, from map[string]any) {
	for key, value := range from {
		below, isMap := into[key].(map[string]any)
		given, givenMap := value.(map[string]any)
		if isMap && givenMap {
			merge(below, given)
		} else {
			into[key] = value
		}
	}
}

func main() {
	folder := os.Args[1]
	given, err := os.ReadFile(os.Args[2])
	must(err)
	var request struct {
		Namespace string
		Values    map[string]any
	}
	must(json.Unmarshal(given, &request))
	values := readYAML(filepath.Join(folder, "values.yaml"))
	merge(values, request.Values)

	chart := map[string]any{}
	for key, value := range readYAML(filepath.Join(folder, "Chart.yaml")) {
		chart[strings.ToUpper(key[:1])+key[1:]] = value
	}
	all := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data any) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	functions["toYaml"] = func(value any) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	functions["required"] = func(why string, value any) (any, error) {
		if value == nil || value == "" {
			return nil, fmt.Errorf("%s", why)
		}
		return value, nil
	}
	all.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	must(err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		must(err)
		_, err = all.New(filepath.Base(file)).Parse(string(content))
		must(err)
	}
	data := map[string]any{
		"Values":  values,
		"Chart":   chart,
		"Release": map[string]any{"Name": "wattled", "Namespace": request.Namespace},
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var text strings.Builder
		must(all.ExecuteTemplate(&text, name, data))
		if filepath.Ext(name) == ".yaml" { // not the notes for people
			fmt.Printf("---\n%s\n", text.String())
		}
	}
}
